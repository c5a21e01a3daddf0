/**
 * What must outlive the process so that the next one can end a call: with BYE (`dialog`), with CANCEL (`calling`, our
 * INVITE without a final answer) or with a final response (`ringing`, theirs). Kept by others as opaque JSON.
 *
 * The last CSeq before a crash may be unknown, therefore a resumed dialog goes on after a gap (RFC 3261 section 12.2.1.1
 * asks for a higher number, not for the next). `peer` is where the packets of the call went.
 */
import { Result, Schema } from "effect"
import type { Dialog } from "./Dialog.ts"
import { emptyBody, type Endpoint, type SipRequest } from "./SipMessage.ts"

const Peer = Schema.Struct({
  address: Schema.String,
  port: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 65_535 }))
})
const CSeqNumber = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 }))

const Confirmed = Schema.Struct({
  version: Schema.Literal(1),
  kind: Schema.Literal("dialog"),
  callId: Schema.String,
  localTag: Schema.String,
  remoteTag: Schema.String,
  local: Schema.String,
  remote: Schema.String,
  remoteTarget: Schema.String,
  routeSet: Schema.Array(Schema.String),
  contact: Schema.String,
  localCSeq: CSeqNumber,
  peer: Peer
})

const Unanswered = Schema.Struct({
  version: Schema.Literal(1),
  kind: Schema.Literals(["calling", "ringing"]),
  uri: Schema.String,
  headers: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  /** To tag of our responses where ringing, else `""`. */
  localTag: Schema.String,
  peer: Peer
})

export const DialogResume = Schema.Union([Confirmed, Unanswered])
export type DialogResume = typeof DialogResume.Type
export type Confirmed = typeof Confirmed.Type
export type Unanswered = typeof Unanswered.Type

/** Requests that one process may send within a dialog before its journal is lost. */
export const cseqGap = 1_000

/** Reads what was stored; fails on anything that is not a resume of a version known here. */
export const decode: (stored: unknown) => Result.Result<DialogResume, Schema.SchemaError> =
  Schema.decodeUnknownResult(DialogResume)

export const fromDialog = (dialog: Dialog, peer: Endpoint): Confirmed => ({
  version: 1,
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
  peer: { address: peer.address, port: peer.port }
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
  remoteCSeq: undefined,
  ack: undefined
})

/** What CANCEL, ACK and responses copy; not the session description. */
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

const fromInvite = (kind: Unanswered["kind"], invite: SipRequest, localTag: string, peer: Endpoint): Unanswered => ({
  version: 1,
  kind,
  uri: invite.uri,
  headers: invite.headers.filter(([name]) => kept.has(name)),
  localTag,
  peer: { address: peer.address, port: peer.port }
})

/** Our INVITE, before it is sent. */
export const calling = (invite: SipRequest, peer: Endpoint): Unanswered => fromInvite("calling", invite, "", peer)

/** Their INVITE, stamped, with the To tag that our responses carry. */
export const ringing = (invite: SipRequest, localTag: string, peer: Endpoint): Unanswered =>
  fromInvite("ringing", invite, localTag, peer)

/** The INVITE without its body: for `Requests.cancel` and `resumeClient`, or for `Responses.make` and `resumeServer`. */
export const toInvite = (resume: Unanswered): SipRequest => ({
  type: "request",
  method: "INVITE",
  uri: resume.uri,
  headers: resume.headers,
  body: emptyBody
})
