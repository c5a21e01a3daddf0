/**
 * Requests as a user agent client writes them, RFC 3261 sections 8.1.1, 9.1, 17.1.1.3 and 22.
 *
 * Branch, tags and Call-ID are arguments. The writer adds Content-Length.
 */
import * as Grammar from "./Grammar.ts"
import * as MessageKey from "./MessageKey.ts"
import { emptyBody, header, type Header, type SipRequest, type SipResponse } from "./SipMessage.ts"

export interface Body {
  /** Value of Content-Type. */
  readonly type: string
  readonly bytes: Uint8Array
}

/** The parts of a request that describe its sender's hop. */
export interface Hop {
  /** Our address and port as others reach them, `host:port`. */
  readonly sentBy: string
  /** Unique for each transaction; begins with `z9hG4bK`. */
  readonly branch: string
  /** The name of the transport in a Via. Default `UDP`. */
  readonly transport?: string
}

/** The parts that a caller may add to a request. */
export interface Extras {
  readonly headers?: ReadonlyArray<Header>
  readonly body?: Body
}

export interface Fields extends Hop, Extras {
  readonly method: string
  /** Request-URI. */
  readonly uri: string
  /** Value of From, with its tag; `NameAddr.format` writes one. */
  readonly from: string
  readonly to: string
  readonly callId: string
  readonly cseq: number
  /** Value of Contact; required where the request creates or refreshes a dialog. */
  readonly contact?: string
  /** Values of Route in order. */
  readonly routes?: ReadonlyArray<string>
}

const via = ({ transport = "UDP", sentBy, branch }: Hop): Header => [
  "Via",
  `SIP/2.0/${transport} ${sentBy};branch=${branch};rport`
]

/** A request without Via, which `by` adds once the flow is known. */
export const unsent = (fields: Omit<Fields, keyof Hop>): SipRequest => ({
  type: "request",
  method: fields.method,
  uri: fields.uri,
  headers: [
    ...(fields.routes ?? []).map((route): Header => ["Route", route]),
    ["Max-Forwards", "70"],
    ["From", fields.from],
    ["To", fields.to],
    ["Call-ID", fields.callId],
    ["CSeq", `${fields.cseq} ${fields.method}`],
    ...(fields.contact === undefined ? [] : [["Contact", fields.contact] as const]),
    ...(fields.headers ?? []),
    ...(fields.body === undefined ? [] : [["Content-Type", fields.body.type] as const])
  ],
  body: fields.body?.bytes ?? emptyBody
})

export const by = (request: SipRequest, hop: Hop): SipRequest => ({
  ...request,
  headers: [via(hop), ...request.headers]
})

export const make = (fields: Fields): SipRequest => by(unsent(fields), fields)

/** The first INVITE of a call. */
export const invite = (fields: Omit<Fields, "method"> & { readonly contact: string }): SipRequest =>
  make({ ...fields, method: "INVITE" })

const only = (request: SipRequest, names: ReadonlyArray<string>): ReadonlyArray<Header> =>
  request.headers.filter(([name]) => names.includes(name))

/** A request of another method in the INVITE's transaction: it copies top Via, Route, From, Call-ID and CSeq number. */
const sibling = (
  invite: SipRequest,
  method: "ACK" | "CANCEL",
  to: string,
  more: ReadonlyArray<Header> = []
): SipRequest => ({
  type: "request",
  method,
  uri: invite.uri,
  headers: [
    ["Via", Grammar.splitList(header(invite, "Via") ?? "")[0] ?? ""],
    ...only(invite, ["Route"]),
    ["Max-Forwards", "70"],
    ...only(invite, ["From"]),
    ["To", to],
    ...only(invite, ["Call-ID"]),
    ["CSeq", `${MessageKey.cseq(invite)?.sequence ?? 0} ${method}`],
    ...more
  ],
  body: emptyBody
})

/** CANCEL of an INVITE that got a provisional response and no final one, section 9.1. */
export const cancel = (invite: SipRequest): SipRequest => sibling(invite, "CANCEL", header(invite, "To") ?? "")

/** Section 22.1: the ACK repeats the credentials of its INVITE. */
export const credentials = (request: SipRequest): ReadonlyArray<Header> =>
  only(request, ["Authorization", "Proxy-Authorization"])

/** ACK to a 3xx to 6xx, section 17.1.1.3. The ACK to a 2xx is `Dialog.acknowledge`. */
export const ackFailure = (invite: SipRequest, response: SipResponse): SipRequest =>
  sibling(invite, "ACK", header(response, "To") ?? header(invite, "To") ?? "", credentials(invite))

/** The request with these credentials. Earlier headers of the same names are replaced. */
export const authorized = (request: SipRequest, credentials: ReadonlyArray<Header>): SipRequest => {
  const replaced = new Set(credentials.map(([name]) => name))
  return { ...request, headers: [...request.headers.filter(([name]) => !replaced.has(name)), ...credentials] }
}

/**
 * The same request as a new transaction with another CSeq number, section 22.2: after a 401 or 407, with credentials
 * that answer the challenge. It has no Via.
 */
export const again = (request: SipRequest, cseq: number, credentials: ReadonlyArray<Header>): SipRequest => {
  const headers = request.headers.flatMap((entry): ReadonlyArray<Header> => {
    if (entry[0] === "Via") return []
    return entry[0] === "CSeq" ? [["CSeq", `${cseq} ${request.method}`]] : [entry]
  })
  return authorized({ ...request, headers }, credentials)
}
