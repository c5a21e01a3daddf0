/**
 * A dialog, RFC 3261 section 12: the state that two user agents share between INVITE and BYE, as a value.
 *
 * A forked INVITE makes one dialog for each To tag that answers: the shell keeps them by `id`. Tags, branches and the
 * first CSeq are arguments.
 */
import { Result } from "effect"
import * as DialogMethod from "./DialogMethod.ts"
import * as MessageKey from "../message/MessageKey.ts"
import * as NameAddr from "../message/header/NameAddr.ts"
import * as Requests from "../message/Requests.ts"
import * as Route from "../message/header/Route.ts"
import { header, headers, type SipMessage, type SipRequest, type SipResponse } from "../message/SipMessage.ts"

export interface Dialog {
  readonly phase: "early" | "confirmed"
  readonly callId: string
  readonly localTag: string
  /** `""` when an RFC 2543 peer gave none. */
  readonly remoteTag: string
  /** Name and URI for From (ours) and To (theirs), without tag. */
  readonly local: string
  readonly remote: string
  /** URI of the peer's last Contact. */
  readonly remoteTarget: string
  /** Values of Route in the order of our requests. */
  readonly routeSet: ReadonlyArray<string>
  /** Our value of Contact. */
  readonly contact: string
  /** CSeq number of our last request. */
  readonly localCSeq: number
  /** CSeq number of their last request; `null`: they sent none. */
  readonly remoteCSeq: number | null
  /** ACK to our last accepted INVITE, to be sent again for each repetition of its 2xx; `null`: none was sent. */
  readonly ack: SipRequest | null
}

/** A request, and the dialog after it was sent. */
interface Built {
  readonly dialog: Dialog
  readonly request: SipRequest
}

export const id = (dialog: Dialog): string => MessageKey.dialog(dialog.callId, dialog.localTag, dialog.remoteTag)

/** URI of the first Contact. */
const contactOf = (message: SipMessage): string | null =>
  Result.getOrUndefined(NameAddr.parseAll(headers(message, "Contact")))?.[0]?.uri ?? null

const partyOf = (message: SipMessage, name: "From" | "To"): NameAddr.NameAddr | null => {
  const value = header(message, name)
  const parsed = value === null ? null : Result.getOrNull(NameAddr.parse(value))
  return parsed === null ? null : { ...parsed, params: parsed.params.filter(([key]) => key !== "tag") }
}

/**
 * Dialog of the caller, section 12.1.2, from a 101 to 299 to its INVITE; `null` where the response makes none (100,
 * a provisional without To tag, 3xx and above).
 */
export const fromResponse = (invite: SipRequest, response: SipResponse): Dialog | null => {
  const remoteTag = MessageKey.toTag(response)
  const sequence = MessageKey.cseq(invite)?.sequence
  const callId = header(invite, "Call-ID")
  const localTag = MessageKey.fromTag(invite)
  const local = partyOf(invite, "From")
  const remote = partyOf(response, "To")
  if (response.status <= 100 || response.status >= 300) return null
  if (response.status < 200 && remoteTag === null) return null
  if (sequence === undefined || callId === null || localTag === null) return null
  if (local === null || remote === null) return null
  return {
    phase: response.status < 200 ? "early" : "confirmed",
    callId,
    localTag,
    remoteTag: remoteTag ?? "",
    local: NameAddr.format(local),
    remote: NameAddr.format(remote),
    remoteTarget: contactOf(response) ?? invite.uri,
    routeSet: Route.elements(response, "Record-Route").toReversed(),
    contact: header(invite, "Contact") ?? "",
    localCSeq: sequence,
    remoteCSeq: null,
    ack: null
  }
}

/**
 * The dialog of the called party, section 12.1.1, from an INVITE; `null` when its CSeq, From, To or Call-ID is
 * malformed. `localTag` is the To tag and `contact` the Contact of all its responses; our first request has the number
 * after `cseq`.
 */
export const fromRequest = (
  invite: SipRequest,
  ours: { readonly localTag: string; readonly contact: string; readonly cseq: number }
): Dialog | null => {
  const sequence = MessageKey.cseq(invite)?.sequence
  const callId = header(invite, "Call-ID")
  const local = partyOf(invite, "To")
  const remote = partyOf(invite, "From")
  if (sequence === undefined || callId === null || local === null || remote === null) return null
  return {
    phase: "early",
    callId,
    localTag: ours.localTag,
    remoteTag: MessageKey.fromTag(invite) ?? "",
    local: NameAddr.format(local),
    remote: NameAddr.format(remote),
    remoteTarget: contactOf(invite) ?? remote.uri,
    routeSet: Route.elements(invite, "Record-Route"),
    contact: ours.contact,
    localCSeq: ours.cseq,
    remoteCSeq: sequence,
    ack: null
  }
}

/** The dialog after we sent a 2xx to the INVITE. */
export const accepted = (dialog: Dialog): Dialog => ({ ...dialog, phase: "confirmed" })

/**
 * A 2xx to our INVITE or UPDATE: confirms an early dialog, whose route set is taken anew (section 13.2.2.4), and
 * refreshes the target (section 12.2.1.2).
 */
export const succeeded = (dialog: Dialog, response: SipResponse): Dialog => ({
  ...dialog,
  phase: "confirmed",
  routeSet: dialog.phase === "early" ? Route.elements(response, "Record-Route").toReversed() : dialog.routeSet,
  remoteTarget: contactOf(response) ?? dialog.remoteTarget
})

/**
 * Applies a request of the peer, section 12.2.2. Each one has a higher CSeq than those before it, in every method. One
 * with a lower CSeq is `outOfOrder`, and one with that of the last is `repeated`: a copy by another way, because one
 * with the same branch would not leave its transaction. Neither changes the dialog. ACK and CANCEL carry the CSeq of
 * their INVITE and are always in order.
 */
export const receive = (
  dialog: Dialog,
  request: SipRequest
): { readonly verdict: "inOrder" | "outOfOrder" | "repeated"; readonly dialog: Dialog } => {
  if (request.method === "ACK" || request.method === "CANCEL") return { verdict: "inOrder", dialog }
  const sequence = MessageKey.cseq(request)?.sequence
  const last = dialog.remoteCSeq
  if (sequence === undefined || (last !== null && sequence < last)) return { verdict: "outOfOrder", dialog }
  return sequence === last
    ? { verdict: "repeated", dialog }
    : { verdict: "inOrder", dialog: { ...dialog, remoteCSeq: sequence } }
}

/** The dialog after we accepted a request of the peer that refreshes the target with a 2xx, section 12.2.2. */
export const refreshed = (dialog: Dialog, request: SipRequest): Dialog => ({
  ...dialog,
  remoteTarget: contactOf(request) ?? dialog.remoteTarget
})

/**
 * Section 12.2.1.1: the target is the Request-URI, unless a strict router takes that place and the target goes last.
 */
const routed = (dialog: Dialog): { readonly uri: string; readonly routes: ReadonlyArray<string> } => {
  const [first, ...rest] = dialog.routeSet
  return first === undefined || !Route.isStrict(first)
    ? { uri: dialog.remoteTarget, routes: dialog.routeSet }
    : { uri: Route.requestUri(first), routes: [...rest, `<${dialog.remoteTarget}>`] }
}

/**
 * The URI to resolve for our next request, section 8.1.2: that of the first router, strict or loose, or else the
 * target. It is read from the unchanged route set, because once a strict router is in the Request-URI, the first Route
 * names another hop.
 */
export const nextHop = ({ remoteTarget, routeSet: [first] }: Dialog): string =>
  first === undefined ? remoteTarget : Route.requestUri(first)

/** `null` leaves the Via out; `Requests.by` adds it later. */
type Hop = Requests.Hop | null

const build = (dialog: Dialog, method: string, cseq: number, hop: Hop, extras: Requests.Extras): SipRequest => {
  const request = Requests.unsent({
    ...extras,
    ...routed(dialog),
    method,
    from: `${dialog.local};tag=${dialog.localTag}`,
    to: dialog.remoteTag === "" ? dialog.remote : `${dialog.remote};tag=${dialog.remoteTag}`,
    callId: dialog.callId,
    cseq,
    ...(DialogMethod.of(method).refreshesTarget && dialog.contact !== "" ? { contact: dialog.contact } : {})
  })
  return hop === null ? request : Requests.by(request, hop)
}

/** BYE, re-INVITE, INFO, OPTIONS and the like within the dialog, section 12.2.1.1. */
export const request = (dialog: Dialog, method: string, hop: Hop, extras: Requests.Extras = {}): Built => {
  const localCSeq = dialog.localCSeq + 1
  return { dialog: { ...dialog, localCSeq }, request: build(dialog, method, localCSeq, hop, extras) }
}

/** ACK to a 2xx to `invite`, section 13.2.2.4: a branch of its own, the CSeq number and credentials of the INVITE. */
export const acknowledge = (dialog: Dialog, invite: SipRequest, hop: Hop, extras: Requests.Extras = {}): Built => {
  const sequence = MessageKey.cseq(invite)?.sequence ?? dialog.localCSeq
  const ack = build(dialog, "ACK", sequence, hop, {
    ...extras,
    headers: [...Requests.credentials(invite), ...(extras.headers ?? [])]
  })
  return { dialog: { ...dialog, ack }, request: ack }
}

/** The ACK to send again for a repeated 2xx; `null`: we have not acknowledged that INVITE yet. */
export const acknowledged = (dialog: Dialog, response: SipResponse): SipRequest | null =>
  dialog.ack !== null && MessageKey.cseq(dialog.ack)?.sequence === MessageKey.cseq(response)?.sequence
    ? dialog.ack
    : null
