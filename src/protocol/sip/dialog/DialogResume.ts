/**
 * The data that must outlive the process so that the next one can end a call: with BYE (`dialog`), with CANCEL
 * (`calling`, our INVITE without a final answer) or with a final response (`ringing`, theirs). Others keep it as opaque
 * JSON.
 *
 * The last CSeq before a crash may be unknown, therefore a resumed dialog continues after a gap (RFC 3261 section
 * 12.2.1.1 asks for a higher number, not for the next). `flow` is the way that the packets of the call took; its
 * connection, if any, ended with the process.
 */
import { type Result, Schema } from "effect"
import type { Dialog } from "./Dialog.ts"
import type { Flow } from "../Flow.ts"
import { emptyBody, type SipRequest } from "../message/SipMessage.ts"

const Address = Schema.Struct({
  address: Schema.String,
  port: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 65_535 }))
})
const StoredFlow = Schema.Struct({
  transport: Schema.Literals(["udp", "tcp", "tls", "ws", "wss"]),
  local: Address,
  remote: Address
})
const CSeqNumber = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 }))

const confirmed = {
  kind: Schema.Literal("dialog"),
  callId: Schema.String,
  localTag: Schema.String,
  remoteTag: Schema.String,
  local: Schema.String,
  remote: Schema.String,
  remoteTarget: Schema.String,
  routeSet: Schema.Array(Schema.String),
  contact: Schema.String,
  localCSeq: CSeqNumber
}

const unanswered = {
  kind: Schema.Literals(["calling", "ringing"]),
  uri: Schema.String,
  headers: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  /** The To tag of our responses when ringing, else `""`. */
  localTag: Schema.String
}

const version = { version: Schema.Literal(2), flow: StoredFlow }
const Confirmed = Schema.Struct({ ...version, ...confirmed })
const Unanswered = Schema.Struct({ ...version, ...unanswered })
export const DialogResume = Schema.Union([Confirmed, Unanswered])
export type DialogResume = typeof DialogResume.Type
type Confirmed = typeof Confirmed.Type
export type Unanswered = typeof Unanswered.Type

/** How many requests one process may send within a dialog before its journal is lost. */
export const cseqGap = 1_000

/** Fails on anything that is not a resume of a known version. */
export const decode: (stored: unknown) => Result.Result<DialogResume, Schema.SchemaError> =
  Schema.decodeUnknownResult(DialogResume)

/** The flow of the call without its connection; a transport of this process uses it again. */
export const flowOf = ({ flow }: DialogResume): Flow => ({ ...flow, connection: null })

const storedFlow = ({ local, remote, transport }: Flow): typeof StoredFlow.Type => ({
  transport,
  local: { address: local.address, port: local.port },
  remote: { address: remote.address, port: remote.port }
})

export const fromDialog = (dialog: Dialog, flow: Flow): Confirmed => ({
  version: 2,
  kind: "dialog",
  callId: dialog.callId,
  localTag: dialog.localTag,
  remoteTag: dialog.remoteTag,
  local: dialog.local,
  remote: dialog.remote,
  remoteTarget: dialog.remoteTarget,
  routeSet: dialog.routeSet,
  contact: dialog.contact,
  localCSeq: dialog.localCSeq,
  flow: storedFlow(flow)
})

/** A confirmed dialog, fit for a BYE. */
export const toDialog = (resume: Confirmed): Dialog => ({
  phase: "confirmed",
  callId: resume.callId,
  localTag: resume.localTag,
  remoteTag: resume.remoteTag,
  local: resume.local,
  remote: resume.remote,
  remoteTarget: resume.remoteTarget,
  routeSet: resume.routeSet,
  contact: resume.contact,
  localCSeq: resume.localCSeq + cseqGap,
  remoteCSeq: null,
  ack: null
})

/** The headers that CANCEL, ACK and responses copy. The session description is left out. */
const kept = new Set([
  "Via",
  "Route",
  "Record-Route",
  "From",
  "To",
  "Call-ID",
  "CSeq",
  "Contact",
  "Authorization",
  "Proxy-Authorization"
])

const fromInvite = (kind: Unanswered["kind"], invite: SipRequest, localTag: string, flow: Flow): Unanswered => ({
  version: 2,
  kind,
  uri: invite.uri,
  headers: invite.headers.filter(([name]) => kept.has(name)),
  localTag,
  flow: storedFlow(flow)
})

/** Our INVITE, before it is sent. */
export const calling = (invite: SipRequest, flow: Flow): Unanswered => fromInvite("calling", invite, "", flow)

/** Their stamped INVITE, with the To tag that our responses carry. */
export const ringing = (invite: SipRequest, localTag: string, flow: Flow): Unanswered =>
  fromInvite("ringing", invite, localTag, flow)

/**
 * The INVITE without its body: for `Requests.cancel` and `resumeClient`, or for `Responses.make` and `resumeServer`.
 */
export const toInvite = (resume: Unanswered): SipRequest => ({
  type: "request",
  method: "INVITE",
  uri: resume.uri,
  headers: resume.headers,
  body: emptyBody
})
