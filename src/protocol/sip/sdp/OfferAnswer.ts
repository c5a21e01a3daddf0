/**
 * Offer and answer of one dialog, RFC 3264 and RFC 6337: which description waits for an answer, and what is agreed.
 *
 * A forked INVITE gives each of its dialogs a state of its own, which begins with the same offer: states are values. A
 * description that is refused, withdrawn or never answered leaves the agreement unchanged.
 */
import { Result } from "effect"
import type { Body } from "../message/Requests.ts"
import * as Sdp from "./Sdp.ts"
import * as SdpOffer from "./SdpOffer.ts"
import type * as SdpStream from "./SdpStream.ts"

/** Our side of the session, without the parts that the state keeps. */
export type Local = Omit<SdpOffer.Local, "sessionVersion" | "direction">

interface Agreement {
  /** Our description in it: the next offer keeps its streams in their places. */
  readonly ours: Sdp.Sdp
  /** The direction that we want for the stream; `terms.direction` is the one that the peer allows. */
  readonly direction: Sdp.Direction
  /** `remote` is the peer's last address, also while it holds by an empty address. */
  readonly terms: SdpOffer.Agreed
}

/** The exchange that is under way, at most one (RFC 3264 section 4). */
type Exchange =
  | { readonly type: "none" }
  /**
   * Our offer has no answer yet. `preview` is the description of a provisional response. The answer is in the 2xx,
   * which may leave out what the provisional response contained (RFC 3261 section 13.2.1, RFC 6337 section 3.1.1).
   */
  | {
      readonly type: "offered"
      readonly ours: Sdp.Sdp
      readonly direction: Sdp.Direction
      readonly preview: Agreement | null
    }
  /** The peer's offer has no answer yet, and we can give one. */
  | { readonly type: "received"; readonly theirs: Sdp.Sdp }

export interface State {
  readonly exchange: Exchange
  /** `null` before the first agreement. */
  readonly agreement: Agreement | null
  /** Our last description, agreed or not: the next version is counted from it. */
  readonly sent: Sdp.Sdp | null
}

export const initial: State = { exchange: { type: "none" }, agreement: null, sent: null }

export type Input =
  /** We want to make an offer; `direction: null` keeps the agreed direction. */
  | { readonly type: "offer"; readonly direction: Sdp.Direction | null }
  /**
   * A message of the peer, with its description or an empty body. `success` and `provisional` answer a request of ours.
   */
  | {
      readonly type: "described"
      readonly by: "request" | "ack" | "provisional" | "success"
      readonly body: Uint8Array
    }
  /** We accept the peer's request: with the answer to its offer, or with an offer of ours where it brought none. */
  | { readonly type: "accept" }
  /** Our offer was refused, we refuse the peer's, or its transaction is over. */
  | { readonly type: "withdrawn" }

export type Output =
  /** The body belongs into the message that asked for it. */
  | { readonly type: "send"; readonly body: Body }
  /** The media flow by these terms from now on. */
  | { readonly type: "connect"; readonly terms: SdpOffer.Agreed }
  /** Two offers collide: the peer's request gets 491, and ours waits (RFC 3261 section 14). */
  | { readonly type: "glare" }
  /** The peer's description cannot be accepted. An offer is refused with `status`; after an answer the call ends. */
  | { readonly type: "unacceptable"; readonly status: 400 | 488; readonly reason: string }

interface Step {
  readonly state: State
  readonly outputs: ReadonlyArray<Output>
}

const none: Exchange = { type: "none" }
const stay = (state: State, ...outputs: ReadonlyArray<Output>): Step => ({ state, outputs })
const unacceptable = (reason: string, status: 400 | 488 = 488): Output => ({ type: "unacceptable", status, reason })

/** The agreement in force, which a provisional response may have previewed. */
const current = ({ agreement, exchange }: State): Agreement | null =>
  exchange.type === "offered" && exchange.preview !== null ? exchange.preview : agreement

const unversioned = (sdp: Sdp.Sdp): string => JSON.stringify({ ...sdp, origin: { ...sdp.origin, sessionVersion: "" } })

/** The version rises by one for each description that differs from the last one sent, RFC 3264 section 8. */
const versioned = ({ sent }: State, next: Sdp.Sdp): Sdp.Sdp => {
  const last = sent === null ? 0 : Number(sent.origin.sessionVersion)
  const version = sent !== null && unversioned(sent) === unversioned(next) ? last : last + 1
  return { ...next, origin: { ...next.origin, sessionVersion: String(version) } }
}

const body = (sdp: Sdp.Sdp): Output => ({ type: "send", body: { type: "application/sdp", bytes: Sdp.write(sdp) } })

const side = (local: Local, direction: Sdp.Direction): SdpOffer.Local => ({ ...local, direction, sessionVersion: 0 })

const offer = (state: State, local: Local, wanted: Sdp.Direction | null): Step => {
  if (state.exchange.type !== "none") return stay(state, { type: "glare" })
  const direction = wanted ?? state.agreement?.direction ?? "sendrecv"
  const ours = versioned(state, SdpOffer.offer(side(local, direction), state.agreement?.ours))
  return stay({ ...state, exchange: { type: "offered", ours, direction, preview: null }, sent: ours }, body(ours))
}

/** A peer that holds by an empty address keeps its last address. */
const agreed = (state: State, ours: Sdp.Sdp, direction: Sdp.Direction, terms: SdpOffer.Agreed): Agreement => {
  const before = terms.remote === null ? current(state)?.terms : terms
  const there = { remote: before?.remote ?? null, remoteRtcp: before?.remoteRtcp ?? null }
  return { ours, direction, terms: { ...terms, ...there } }
}

/** In an answer the agreed codec stays the one that we want most, so that a peer that offers it again gets it again. */
const answering = ({ agreement }: State, local: Local): Local => {
  const isAgreed = ({ channels, clockRate, encoding }: SdpStream.Format): boolean => {
    const codec = agreement?.terms.codec
    return codec?.encoding === encoding && codec.clockRate === clockRate && codec.channels === channels
  }
  return { ...local, codecs: local.codecs.toSorted((a, b) => Number(isAgreed(b)) - Number(isAgreed(a))) }
}

const received = (state: State, local: Local, bytes: Uint8Array): Step => {
  if (state.exchange.type !== "none") return stay(state, { type: "glare" })
  if (bytes.length === 0) return stay(state)
  const theirs = Sdp.parse(bytes)
  if (Result.isFailure(theirs)) return stay(state, unacceptable(theirs.failure, 400))
  const answer = SdpOffer.answer(theirs.success, side(local, "sendrecv"))
  return Result.isFailure(answer)
    ? stay(state, unacceptable(answer.failure.reason))
    : stay({ ...state, exchange: { type: "received", theirs: theirs.success } })
}

const accept = (state: State, local: Local): Step => {
  switch (state.exchange.type) {
    case "none":
      return offer(state, local, null)
    case "offered":
      return stay(state, { type: "glare" })
    case "received": {
      const direction = state.agreement?.direction ?? "sendrecv"
      const answer = SdpOffer.answer(state.exchange.theirs, side(answering(state, local), direction))
      if (Result.isFailure(answer)) return stay(state, unacceptable(answer.failure.reason))
      const ours = versioned(state, answer.success.answer)
      const agreement = agreed(state, ours, direction, answer.success.agreed)
      return stay({ exchange: none, agreement, sent: ours }, body(ours), { type: "connect", terms: agreement.terms })
    }
  }
}

/** Applies the answer to our offer; a description that answers no offer of ours is ignored. */
const answered = (state: State, bytes: Uint8Array, isFinal: boolean): Step => {
  const { exchange } = state
  if (exchange.type !== "offered") return stay(state)
  const { direction, ours, preview } = exchange
  if (bytes.length === 0) {
    if (!isFinal) return stay(state)
    return preview === null
      ? stay({ ...state, exchange: none }, unacceptable("no answer to our offer"))
      : stay({ ...state, exchange: none, agreement: preview })
  }
  const terms = Result.flatMap(
    Result.mapError(Sdp.parse(bytes), (reason) => ({ reason })),
    (theirs) => SdpOffer.accept(ours, theirs)
  )
  if (Result.isFailure(terms))
    return stay(isFinal ? { ...state, exchange: none } : state, unacceptable(terms.failure.reason))
  const agreement = agreed(state, ours, direction, terms.success)
  const connect: Output = { type: "connect", terms: agreement.terms }
  return isFinal
    ? stay({ ...state, exchange: none, agreement }, connect)
    : stay({ ...state, exchange: { ...exchange, preview: agreement } }, connect)
}

/** `local` may change between two descriptions; an exchange that is under way keeps its own. */
export const step = (state: State, input: Input, local: Local): Step => {
  switch (input.type) {
    case "offer":
      return offer(state, local, input.direction)
    case "accept":
      return accept(state, local)
    case "withdrawn":
      return stay({ ...state, exchange: none })
    case "described":
      switch (input.by) {
        case "request":
          return received(state, local, input.body)
        case "provisional":
          return answered(state, input.body, false)
        case "ack":
        case "success":
          return answered(state, input.body, true)
      }
  }
}
