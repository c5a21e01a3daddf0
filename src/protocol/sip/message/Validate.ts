import { Result } from "effect"
import * as CSeq from "./header/CSeq.ts"
import * as Grammar from "./Grammar.ts"
import * as NameAddr from "./header/NameAddr.ts"
import * as SessionBody from "./SessionBody.ts"
import { type Header, header, headers, type SipRequest, type SipResponse } from "./SipMessage.ts"
import * as SipUri from "./header/SipUri.ts"
import * as Via from "./header/Via.ts"

/** The capabilities of this user agent that a request may require. */
export interface Policy {
  /** Option tags that a `Require` may name, in lower case. */
  readonly supported: ReadonlyArray<string>
}

/** Supports no extensions. */
export const defaultPolicy: Policy = { supported: [] }

type Verdict =
  | { readonly type: "accept" }
  /** `headers` go into the response besides the copied ones. */
  | {
      readonly type: "reject"
      readonly status: number
      readonly reason: string
      readonly headers: ReadonlyArray<Header>
    }
  | { readonly type: "drop"; readonly reason: string }

const accept: Verdict = { type: "accept" }

const reject = (status: number, reason: string, headers: ReadonlyArray<Header> = []): Verdict => ({
  type: "reject",
  status,
  reason,
  headers
})

const bad = (reason: string): Verdict => reject(400, reason)

/** The headers that we read and that have at most one value each (RFC 3261 section 20, table 2 and 3). */
const single = new Set([
  "Call-ID",
  "CSeq",
  "Content-Disposition",
  "Content-Length",
  "Content-Type",
  "Expires",
  "From",
  "Max-Forwards",
  "Referred-By",
  "Refer-To",
  "Replaces",
  "Session-Expires",
  "To"
])

/** The methods of the IANA registry. Any other that also contradicts its CSeq gets 501 (RFC 4475 section 3.1.2.18). */
const registered = new Set([
  "ACK",
  "BYE",
  "CANCEL",
  "INFO",
  "INVITE",
  "MESSAGE",
  "NOTIFY",
  "OPTIONS",
  "PRACK",
  "PUBLISH",
  "REFER",
  "REGISTER",
  "SUBSCRIBE",
  "UPDATE"
])

/**
 * Whether a user agent server may process a parsed request, RFC 3261 sections 8.1.1 and 8.2, in the order of 8.2.
 *
 * Left to the caller: methods that it does not serve (405), whether the Request-URI is known here (404), merged
 * requests (482), authentication. Max-Forwards does not matter at an endpoint, so 0 and a missing or overlarge one
 * pass. For requests of RFC 2543 a From without tag, a Via without branch and an INVITE without Contact pass.
 * An ACK is never answered: it is accepted or dropped.
 */
export const request = (message: SipRequest, policy: Policy = defaultPolicy): Verdict => {
  const verdict = checks.reduce<Verdict | null>((found, check) => found ?? check(message, policy), null)
  if (verdict === null) return accept
  return message.method === "ACK" && verdict.type === "reject" ? { type: "drop", reason: verdict.reason } : verdict
}

type Check = (message: SipRequest, policy: Policy) => Verdict | null

/** Sections 8.1.1 and 18.2.1: the answer must reach the sender and match its transaction. */
const routable: Check = (message) => {
  if (header(message, "Via") === null) return { type: "drop", reason: "no Via" }
  const top = Via.top(message)
  if (Result.isFailure(top)) return bad("Malformed Via")
  return Via.branch(top.success) === Via.magicCookie ? bad("Empty Branch") : null
}

const wellFormed: Check = (message) => {
  const seen = new Set<string>()
  for (const [name] of message.headers) {
    if (seen.has(name) && single.has(name)) return bad(`Repeated ${name}`)
    seen.add(name)
  }
  for (const name of ["From", "To", "Call-ID", "CSeq"]) if (!seen.has(name)) return bad(`Missing ${name}`)
  for (const name of ["From", "To"])
    if (Result.isFailure(NameAddr.parse(header(message, name) ?? ""))) return bad(`Malformed ${name}`)
  if (!/^[^\s]+$/.test(header(message, "Call-ID") ?? "")) return bad("Malformed Call-ID")
  const cseq = CSeq.parse(header(message, "CSeq") ?? "")
  if (Result.isFailure(cseq)) return bad("Malformed CSeq")
  if (cseq.success.method !== message.method)
    return registered.has(message.method) ? bad("CSeq Method Mismatch") : reject(501, "Not Implemented")
  if (!/^[0-9]+$/.test(header(message, "Max-Forwards") ?? "70")) return bad("Malformed Max-Forwards")
  for (const name of ["Contact", "Route", "Record-Route"]) {
    const values = headers(message, name)
    if (values.length === 0 || (name === "Contact" && message.method === "REGISTER" && values[0] === "*")) continue
    if (Result.isFailure(NameAddr.parseAll(values))) return bad(`Malformed ${name}`)
  }
  return null
}

/** Section 8.2.2.1. A Request-URI holds no headers (section 19.1.1, table 1). */
const addressed: Check = (message) => {
  const uri = SipUri.parse(message.uri)
  if (Result.isFailure(uri)) return bad("Malformed Request-URI")
  if (uri.success.type === "other") return reject(416, "Unsupported URI Scheme")
  return uri.success.type === "sip" && uri.success.headers.length > 0 ? bad("Headers in Request-URI") : null
}

/** Section 8.2.2.3. */
const understood: Check = (message, policy) => {
  if (message.method === "CANCEL" || message.method === "ACK") return null
  const missing = Grammar.tokens(headers(message, "Require")).filter(
    (tag) => !policy.supported.includes(tag.toLowerCase())
  )
  return missing.length === 0 ? null : reject(420, "Bad Extension", [["Unsupported", missing.join(", ")]])
}

/** Section 8.2.3, and 20.11 for `handling=optional`. The body of an ACK is not checked: an ACK cannot be refused. */
const readable: Check = (message) => {
  if (message.body.length === 0 || message.method === "ACK") return null
  if (SessionBody.mayDescribe(message)) {
    const body = SessionBody.of(message)
    return body.type === "refused" ? reject(body.status, body.reason, body.headers) : null
  }
  if (/;[ \t]*handling[ \t]*=[ \t]*optional\b/i.test(header(message, "Content-Disposition") ?? "")) return null
  return Grammar.tokens(headers(message, "Content-Encoding")).some((coding) => coding.toLowerCase() !== "identity")
    ? reject(415, "Unsupported Media Type", [["Accept-Encoding", "identity"]])
    : null
}

/** Section 20.1: the sender of an INVITE must be able to read our SDP. */
const answerable: Check = (message) => {
  if (message.method !== "INVITE" || header(message, "Accept") === null) return null
  const ranges = Grammar.tokens(headers(message, "Accept")).map(mediaType)
  return ranges.some((range) => range === "application/sdp" || range === "application/*" || range === "*/*")
    ? null
    : reject(406, "Not Acceptable")
}

const mediaType = (value: string): string => (value.split(";", 1)[0] ?? "").replace(/[ \t]/g, "").toLowerCase()

const checks: ReadonlyArray<Check> = [routable, wellFormed, addressed, understood, readable, answerable]

/**
 * Whether a user agent client may process a parsed response, RFC 3261 section 8.1.3.3. A faulty response is dropped and
 * reported to no peer.
 */
export const response = (message: SipResponse): Verdict => {
  const vias = Via.parseAll(headers(message, "Via"))
  if (Result.isFailure(vias)) return { type: "drop", reason: vias.failure }
  if (vias.success.length !== 1) return { type: "drop", reason: "not one Via" }
  for (const name of ["From", "To"])
    if (Result.isFailure(NameAddr.parse(header(message, name) ?? "")))
      return { type: "drop", reason: `malformed ${name}` }
  if (header(message, "Call-ID") === null) return { type: "drop", reason: "no Call-ID" }
  const cseq = CSeq.parse(header(message, "CSeq") ?? "")
  return Result.isFailure(cseq) ? { type: "drop", reason: cseq.failure } : accept
}
