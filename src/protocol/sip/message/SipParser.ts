import { Result } from "effect"
import { decimal, isSpaceCode, isToken, trimmed } from "./Grammar.ts"
import * as HeaderName from "./HeaderName.ts"
import { emptyBody, type Header, header, type SipMessage, type SipRequest } from "./SipMessage.ts"

export const maxMessageBytes = 65_536
const maxHeaders = 256
/** The most characters of one start line, or of one header with its folded lines. */
const maxLineLength = 8_192

/** Why a datagram is not a message, and how a server reacts. */
export type SipParseError =
  /** Only line breaks or zero bytes, with which a peer keeps its binding open, RFC 5626 section 3.5.1. */
  | { readonly type: "keepalive" }
  /** Not SIP, or a faulty response or ACK: nothing may be answered. */
  | { readonly type: "drop"; readonly reason: string }
  /** A faulty request with at least one Via: `request` holds the readable parts, with an empty body. */
  | { readonly type: "reject"; readonly status: 400 | 414 | 505; readonly reason: string; readonly request: SipRequest }

type StartLine =
  | { readonly type: "request"; readonly method: string; readonly uri: string }
  | { readonly type: "response"; readonly status: number; readonly reason: string }

interface Fault {
  readonly status: 400 | 414 | 505
  readonly reason: string
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })

/**
 * Reads one datagram as one SIP message, RFC 3261 sections 7 and 18.3. Never throws.
 *
 * Compact header names become long ones and known names get their usual case; folded lines are joined by one space.
 * A lone LF ends a line too; a lone CR is a fault, so that no header value can hold a line break. Bytes beyond
 * Content-Length are dropped, without it the body is the rest. Bytes that are not UTF-8 become U+FFFD in headers.
 * The body shares memory with `bytes`.
 */
export const parse = (bytes: Uint8Array): Result.Result<SipMessage, SipParseError> => {
  if (bytes.length > maxMessageBytes) return drop("message too long")
  let start = 0
  while (start < bytes.length && isKeepalive(bytes[start])) start++
  if (start === bytes.length) return Result.fail({ type: "keepalive" })
  const bodyStart = headEnd(bytes, start)
  const head = utf8.decode(bytes.subarray(start, bodyStart === -1 ? bytes.length : bodyStart))

  let lf = head.indexOf("\n")
  if (lf === -1) return drop("no line")
  const line = readStartLine(head.slice(0, lineEnd(head, 0, lf)))
  if (typeof line === "string") return drop(line)
  let fault = line.fault
  const fail = (reason: string, status: Fault["status"] = 400) => {
    fault ??= { status, reason }
  }

  const headers: Array<Header> = []
  let declared: number | null = null
  let at = lf + 1
  while (at < head.length) {
    lf = head.indexOf("\n", at)
    if (lf === -1) lf = head.length
    let end = lineEnd(head, at, lf)
    if (end === at) break
    if (headers.length === maxHeaders) {
      fail("Too Many Headers")
      break
    }
    const colon = head.indexOf(":", at)
    const named = colon !== -1 && colon < end
    const name = named ? HeaderName.canonical(trimmedEnd(head, at, colon)) : null
    let value = named ? trimmed(head, colon + 1, end) : ""
    const first = at
    at = lf + 1
    while (at < head.length && isSpaceCode(head.charCodeAt(at)) && at - first <= maxLineLength) {
      lf = head.indexOf("\n", at)
      if (lf === -1) lf = head.length
      end = lineEnd(head, at, lf)
      const more = trimmed(head, at, end)
      if (more !== "") value = value === "" ? more : `${value} ${more}`
      at = lf + 1
    }
    if (end - first > maxLineLength) {
      fail("Header Too Long")
      continue
    }
    if (name === null) {
      fail("Malformed Header")
      continue
    }
    if (value.includes("\r")) {
      fail("Line Break in Header")
      continue
    }
    if (name === "Content-Length") {
      if (declared !== null) fail("Repeated Content-Length")
      declared = decimal(value, 9)
      if (declared === null) fail("Malformed Content-Length")
    }
    headers.push([name, value])
  }

  let body = emptyBody
  if (bodyStart === -1) fail("Headers Not Ended")
  else if (declared !== null && declared > bytes.length - bodyStart) fail("Body Shorter Than Content-Length")
  else body = bytes.subarray(bodyStart, declared === null ? bytes.length : bodyStart + declared)

  const { start: known } = line
  if (fault === null) return Result.succeed({ ...known, headers, body })
  if (known.type === "response") return drop(fault.reason)
  const request: SipRequest = { ...known, headers, body: emptyBody }
  // An ACK is never answered (section 17), and a request without a Via gives no way back.
  if (known.method === "ACK" || header(request, "Via") === null) return drop(fault.reason)
  return Result.fail({ type: "reject", status: fault.status, reason: fault.reason, request })
}

const drop = (reason: string): Result.Result<never, SipParseError> => Result.fail({ type: "drop", reason })

const isKeepalive = (byte: number | undefined): boolean => byte === 0x0d || byte === 0x0a || byte === 0

/** The index after the empty line that ends the headers, or -1. */
const headEnd = (bytes: Uint8Array, start: number): number => {
  for (let lf = bytes.indexOf(0x0a, start); lf !== -1; lf = bytes.indexOf(0x0a, lf + 1)) {
    if (bytes[lf + 1] === 0x0a) return lf + 2
    if (bytes[lf + 1] === 0x0d && bytes[lf + 2] === 0x0a) return lf + 3
  }
  return -1
}

/** The index of the line break that ends at `lf`: that of its CR when there is one. */
const lineEnd = (head: string, at: number, lf: number): number =>
  lf > at && head.charCodeAt(lf - 1) === 0x0d ? lf - 1 : lf

/** Blanks are allowed between a header's name and its colon, but not before the name. */
const trimmedEnd = (head: string, from: number, to: number): string => {
  let end = to
  while (end > from && isSpaceCode(head.charCodeAt(end - 1))) end--
  return head.slice(from, end)
}

const requestLine = /^([\w\-.!%*+`'~]+) ([^\s]+) SIP\/2\.0$/i
const statusLine = /^SIP\/2\.0 ([1-6][0-9]{2})(?: ([^\r]*))?$/i
const anyVersion = /^SIP\/[0-9]+\.[0-9]+$/i

/** Reads a start line, with its fault when it can still be answered. A string is the reason why it cannot. */
const readStartLine = (line: string): { readonly start: StartLine; readonly fault: Fault | null } | string => {
  const tooLong = line.length > maxLineLength
  const good = tooLong ? null : requestLine.exec(line)
  if (good !== null) return { start: { type: "request", method: good[1] ?? "", uri: good[2] ?? "" }, fault: null }
  if (/^SIP\//i.test(line)) {
    const status = tooLong ? null : statusLine.exec(line)
    if (status === null) return "malformed status line"
    return { start: { type: "response", status: Number(status[1]), reason: status[2] ?? "" }, fault: null }
  }
  // From here on the code only finds out whether an answer is possible. The method comes first, the version last, with
  // any text between.
  const text = trimmed(line)
  const first = text.indexOf(" ")
  const last = text.lastIndexOf(" ")
  const method = text.slice(0, first)
  const version = text.slice(last + 1)
  if (first === last || !isToken(method) || !anyVersion.test(version)) return "not SIP"
  const uri = trimmed(text, first + 1, last)
  const fault: Fault =
    version.toUpperCase() !== "SIP/2.0"
      ? { status: 505, reason: "Version Not Supported" }
      : tooLong
        ? { status: 414, reason: "Request-URI Too Long" }
        : { status: 400, reason: "Malformed Request-Line" }
  return { start: { type: "request", method, uri }, fault }
}
