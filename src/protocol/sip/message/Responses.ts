/** Responses as a user agent server writes them, RFC 3261 sections 8.2.6 and 12.1.1. The writer adds Content-Length. */
import { createHash } from "node:crypto"
import * as MessageKey from "./MessageKey.ts"
import type { Body } from "./Requests.ts"
import { emptyBody, type Header, type SipRequest, type SipResponse } from "./SipMessage.ts"

export interface Options {
  /** Default: the phrase of the RFC. */
  readonly reason?: string
  /** Added to a To without tag, except in a 100. */
  readonly toTag?: string
  /** Value of Contact; required in a 2xx to INVITE. */
  readonly contact?: string
  readonly headers?: ReadonlyArray<Header>
  readonly body?: Body
}

// prettier-ignore
const phrases: Readonly<Record<number, string>> = {
  100: "Trying", 180: "Ringing", 181: "Call Is Being Forwarded", 182: "Queued", 183: "Session Progress",
  200: "OK", 202: "Accepted", 302: "Moved Temporarily",
  400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
  407: "Proxy Authentication Required", 408: "Request Timeout", 413: "Request Entity Too Large",
  415: "Unsupported Media Type", 416: "Unsupported URI Scheme", 420: "Bad Extension",
  480: "Temporarily Unavailable", 481: "Call/Transaction Does Not Exist", 482: "Loop Detected", 483: "Too Many Hops",
  484: "Address Incomplete", 486: "Busy Here", 487: "Request Terminated", 488: "Not Acceptable Here",
  491: "Request Pending", 500: "Server Internal Error", 501: "Not Implemented", 503: "Service Unavailable",
  505: "Version Not Supported", 513: "Message Too Large", 600: "Busy Everywhere", 603: "Decline",
  604: "Does Not Exist Anywhere", 606: "Not Acceptable"
}

const phrase = (status: number): string => phrases[status] ?? "Unknown"

/** The headers that a response may copy, and the Contact, whose URI a dialog keeps. */
const lasting = new Set(["Via", "From", "To", "Call-ID", "CSeq", "Timestamp", "Record-Route", "Contact"])

/**
 * The parts of a request from which its responses and its dialog are made, copied into new memory: a header value of a
 * parsed message is a slice of the text of its datagram and keeps all of that text in memory.
 */
export const basis = (request: SipRequest): SipRequest => {
  const kept = request.headers.filter(([name]) => lasting.has(name))
  // Joining the values makes a new text, of which each value becomes a slice.
  const [method = "", uri = "", ...values] = [request.method, request.uri, ...kept.map(([, value]) => value)]
    .join("\n")
    .split("\n")
  return { type: "request", method, uri, headers: kept.map(([name], at) => [name, values[at] ?? ""]), body: emptyBody }
}

/** The request with the values of its basis, so that a message made from it keeps no more memory than the basis. */
export const onBasis = (request: SipRequest, { headers }: SipRequest): SipRequest => {
  let next = 0
  return {
    ...request,
    headers: request.headers.map((entry) => (lasting.has(entry[0]) ? (headers[next++] ?? entry) : entry))
  }
}

/**
 * Copies Via, From, To, Call-ID and CSeq, the Timestamp into a 100, and Record-Route when the response makes a dialog
 * (101 to 299 to INVITE).
 */
export const make = (request: SipRequest, status: number, options: Options = {}): SipResponse => {
  const copied = new Set(["Via", "From", "To", "Call-ID", "CSeq"])
  if (status === 100) copied.add("Timestamp")
  if (request.method === "INVITE" && status > 100 && status < 300) copied.add("Record-Route")
  const tag = status > 100 && MessageKey.toTag(request) === null ? options.toTag : undefined
  return {
    type: "response",
    status,
    reason: options.reason ?? phrase(status),
    headers: [
      ...request.headers
        .filter(([name]) => copied.has(name))
        .map(([name, value]): Header =>
          name === "To" && tag !== undefined ? [name, `${value};tag=${tag}`] : [name, value]
        ),
      ...(options.contact === undefined ? [] : [["Contact", options.contact] as const]),
      ...(options.headers ?? []),
      ...(options.body === undefined ? [] : [["Content-Type", options.body.type] as const])
    ],
    body: options.body?.bytes ?? emptyBody
  }
}

/** A response without state: its To tag is a hash of the request, the same for each repetition (section 8.2.7). */
export const stateless = (request: SipRequest, status: number, options: Omit<Options, "toTag"> = {}): SipResponse => {
  const key = MessageKey.server(request) ?? ""
  return make(request, status, { ...options, toTag: createHash("sha256").update(key).digest("hex").slice(0, 16) })
}
