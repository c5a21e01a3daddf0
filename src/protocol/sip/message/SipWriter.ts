import * as HeaderName from "./HeaderName.ts"
import type { SipMessage, SipRequest, SipResponse } from "./SipMessage.ts"

const utf8 = new TextEncoder()

/** `INVITE sip:… SIP/2.0`, without a line break. Characters that a URI or a method cannot hold are left out. */
const requestLine = (request: SipRequest): string => `${solid(request.method)} ${solid(request.uri)} SIP/2.0`

/** `SIP/2.0 200 OK`, without a line break. */
const statusLine = (response: SipResponse): string => `SIP/2.0 ${response.status} ${oneLine(response.reason)}`

/**
 * The bytes of a message, RFC 3261 section 7. It is total: it fails for no message.
 *
 * Content-Length is always that of the body: a present one is corrected, a missing one added last. No value can start a
 * new header or a body: a run of line breaks in a value becomes one space, and a header whose name is not a token is
 * left out.
 */
export const write = (message: SipMessage): Uint8Array => {
  let head = message.type === "request" ? requestLine(message) : statusLine(message)
  const { body } = message
  let counted = false
  for (const [given, value] of message.headers) {
    const name = HeaderName.canonical(given)
    if (name === null) continue
    if (name === "Content-Length") {
      if (!counted) head += `\r\nContent-Length: ${body.length}`
      counted = true
    } else head += `\r\n${name}: ${oneLine(value)}`
  }
  head += counted ? "\r\n\r\n" : `\r\nContent-Length: ${body.length}\r\n\r\n`
  const start = utf8.encode(head)
  if (body.length === 0) return start
  const bytes = new Uint8Array(start.length + body.length)
  bytes.set(start)
  bytes.set(body, start.length)
  return bytes
}

const oneLine = (value: string): string => (/[\r\n]/.test(value) ? value.replace(/[\r\n]+[ \t]*/g, " ") : value)

const solid = (text: string): string => (/\s/.test(text) ? text.replace(/\s+/g, "") : text)
