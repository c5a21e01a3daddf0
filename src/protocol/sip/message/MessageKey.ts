import { Result } from "effect"
import * as CSeq from "./header/CSeq.ts"
import * as NameAddr from "./header/NameAddr.ts"
import { header, type SipMessage, type SipRequest } from "./SipMessage.ts"
import * as Via from "./header/Via.ts"

/**
 * The keys under which transactions and dialogs are found, RFC 3261 sections 8.2.2.2, 12, 17.1.3 and 17.2.3, and the
 * parts that make up the keys.
 *
 * A malformed key or part is `null`. Parts of a key are joined by a line feed, which no header value holds.
 */
export const cseq = (message: SipMessage): CSeq.CSeq | null => {
  const value = header(message, "CSeq")
  return value === null ? null : Result.getOrNull(CSeq.parse(value))
}

const tagOf = (message: SipMessage, name: "From" | "To"): string | null => {
  const value = header(message, name)
  const parsed = value === null ? null : Result.getOrNull(NameAddr.parse(value))
  return parsed === null ? null : NameAddr.tag(parsed)
}

export const fromTag = (message: SipMessage): string | null => tagOf(message, "From")

export const toTag = (message: SipMessage): string | null => tagOf(message, "To")

/** Section 17.1.3: branch and CSeq method, the same for a request of ours and its responses. */
export const client = (message: SipMessage): string | null => {
  const via = Result.getOrNull(Via.top(message))
  const branch = via === null ? null : Via.branch(via)
  const method = cseq(message)?.method
  return branch === null || method === undefined ? null : ["client", branch, method].join("\n")
}

/**
 * Section 17.2.3: branch, sent-by and method; the ACK to a 3xx to 6xx has the key of its INVITE. A request without the
 * magic cookie (RFC 2543) also has From tag, Call-ID and CSeq number in its key. Stamping does not change the key.
 */
export const server = (request: SipRequest, method: string = request.method): string | null => {
  const via = Result.getOrNull(Via.top(request))
  const sequence = cseq(request)?.sequence
  if (via === null || sequence === undefined) return null
  const branch = Via.branch(via)
  const hop = [branch, via.host.toLowerCase(), via.port ?? Via.defaultPort, method === "ACK" ? "INVITE" : method]
  return branch?.startsWith(Via.magicCookie) === true
    ? ["server", ...hop].join("\n")
    : ["server", ...hop, fromTag(request), header(request, "Call-ID"), sequence].join("\n")
}

/**
 * Section 8.2.2.2: the key that copies of one request share when they arrived by different paths; none within a dialog.
 */
export const merged = (request: SipRequest): string | null => {
  if (request.method === "ACK" || request.method === "CANCEL" || toTag(request) !== null) return null
  return [fromTag(request), header(request, "Call-ID"), cseq(request)?.sequence, request.method].join("\n")
}

/** Section 12: Call-ID, our tag, their tag. */
export const dialog = (callId: string, localTag: string, remoteTag: string): string =>
  [callId, localTag, remoteTag].join("\n")

/** The Call-ID in the key of a dialog. */
export const callIdOfDialog = (key: string): string => key.slice(0, key.indexOf("\n"))

/** The dialog that a request of the peer belongs to. */
export const dialogOfRequest = (request: SipRequest): string =>
  dialog(header(request, "Call-ID") ?? "", toTag(request) ?? "", fromTag(request) ?? "")
