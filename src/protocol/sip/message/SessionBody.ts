/**
 * The session description in the body of a message: SDP alone, or as one part of several, RFC 3261 sections 7.4 and
 * 20.11, RFC 2046 section 5.1 and RFC 5621.
 */
import { Result } from "effect"
import * as Grammar from "./Grammar.ts"
import * as MessageKey from "./MessageKey.ts"
import * as Multipart from "./Multipart.ts"
import * as Params from "./header/Params.ts"
import { emptyBody, type Header, type SipMessage } from "./SipMessage.ts"

/** The session description of a body, for readers of offers and answers. */
type SessionBody =
  /** There is no body, or none that has to be understood. */
  | { readonly type: "none" }
  | { readonly type: "session"; readonly bytes: Uint8Array }
  /** The body has to be understood, but we cannot read it. `headers` list the types that we can read. */
  | {
      readonly type: "refused"
      readonly status: 400 | 415
      readonly reason: string
      readonly headers: ReadonlyArray<Header>
    }

/** How deep we open bodies within bodies. */
const maxDepth = 3

export const accept: Header = ["Accept", "application/sdp, multipart/mixed, multipart/alternative"]

/** Requests, and their responses, that carry offers and answers. */
const methods = new Set(["INVITE", "ACK", "PRACK", "UPDATE"])

export const mayDescribe = (message: SipMessage): boolean =>
  methods.has(message.type === "request" ? message.method : (MessageKey.cseq(message)?.method ?? ""))

const none: SessionBody = { type: "none" }
const refusedType: SessionBody = {
  type: "refused",
  status: 415,
  reason: "Unsupported Media Type",
  headers: [accept]
}
const refusedEncoding: SessionBody = { ...refusedType, headers: [["Accept-Encoding", "identity"]] }
const malformed = (reason: string): SessionBody => ({ type: "refused", status: 400, reason, headers: [] })

interface Entity {
  readonly headers: ReadonlyArray<Header>
  readonly body: Uint8Array
}

const value = ({ headers }: Entity, name: string): string => headers.find(([key]) => key === name)?.[1] ?? ""

const token = (text: string): string => (text.split(";", 1)[0] ?? "").replace(/[ \t]/g, "").toLowerCase()

const param = (text: string, name: string): string | null =>
  Params.get(Params.parse(text, text.includes(";") ? text.indexOf(";") : text.length) ?? [], name)

const handling = (entity: Entity): string | null =>
  param(value(entity, "Content-Disposition"), "handling")?.toLowerCase() ?? null

const isIdentity = (entity: Entity): boolean =>
  Grammar.tokens(entity.headers.filter(([name]) => name === "Content-Encoding").map(([, each]) => each)).every(
    (coding) => coding.toLowerCase() === "identity"
  ) && ["", "7bit", "8bit", "binary"].includes(token(value(entity, "Content-Transfer-Encoding")))

const read = (entity: Entity, depth: number): SessionBody => {
  const found = readRequired(entity, depth)
  return found.type === "refused" && handling(entity) === "optional" ? none : found
}

const readRequired = (entity: Entity, depth: number): SessionBody => {
  if (entity.body.length === 0) return none
  if (!isIdentity(entity)) return refusedEncoding
  const contentType = value(entity, "Content-Type")
  const type = token(contentType)
  if (type === "application/sdp") {
    const disposition = token(value(entity, "Content-Disposition"))
    return disposition === "" || disposition === "session" ? { type: "session", bytes: entity.body } : refusedType
  }
  if (!type.startsWith("multipart/") || depth === maxDepth) return refusedType
  const parts = Multipart.parse(entity.body, param(contentType, "boundary") ?? "")
  if (Result.isFailure(parts)) return malformed(parts.failure)
  return type === "multipart/alternative" ? alternative(parts.success, depth + 1) : mixed(parts.success, depth + 1)
}

/**
 * The parts have the same content, the best one last. The last part that we can read counts, RFC 2046 section 5.1.4.
 */
const alternative = (parts: ReadonlyArray<Entity>, depth: number): SessionBody => {
  const readings = parts.map((part) => read(part, depth))
  return readings.findLast(({ type }) => type === "session") ?? readings.find(({ type }) => type === "refused") ?? none
}

/**
 * The parts belong together. We refuse a part beside the description only when its `handling` is `required`. By RFC
 * 3261 section 20.11 a part without `handling` is required too, but senders of locations and of ISUP leave it out, and
 * their calls should not fail for it.
 */
const mixed = (parts: ReadonlyArray<Entity>, depth: number): SessionBody => {
  const readings = parts.map((part) => ({ part, reading: read(part, depth) }))
  const refused = readings.filter(({ reading }) => reading.type === "refused")
  const session = readings.find(({ reading }) => reading.type === "session")
  const inTheWay = session === undefined ? refused : refused.filter(({ part }) => handling(part) === "required")
  return inTheWay[0]?.reading ?? session?.reading ?? none
}

/** Reads the body of a message that may describe a session. */
export const of = (message: SipMessage): SessionBody => read(message, 0)

/**
 * The message for readers of offers and answers: its body is the session description or empty. Any other message, and
 * one whose body is SDP alone, is unchanged.
 */
export const alone = <Message extends SipMessage>(message: Message): Message => {
  if (message.body.length === 0 || !mayDescribe(message)) return message
  const found = of(message)
  if (found.type === "session" && found.bytes === message.body) return message
  const body = found.type === "session" ? found.bytes : emptyBody
  const headers = message.headers.filter(([name]) => name !== "Content-Length" && !described.has(name))
  return { ...message, headers: body.length === 0 ? headers : [...headers, ["Content-Type", "application/sdp"]], body }
}
const described = new Set(["Content-Type", "Content-Disposition", "Content-Encoding", "Content-Transfer-Encoding"])
