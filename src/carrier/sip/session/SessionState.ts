/** A dialog of a leg as a value: what `SessionMachine` steps over, and what goes in and comes out. */
import type * as Dialog from "../../../sip/dialog/Dialog.ts"
import type { Flow } from "../../../sip/Flow.ts"
import type * as OfferAnswer from "../../../sip/sdp/OfferAnswer.ts"
import type * as ReferSubscription from "../../../sip/dialog/ReferSubscription.ts"
import type { Body } from "../../../sip/message/Requests.ts"
import type { Direction } from "../../../sip/sdp/Sdp.ts"
import type * as SdpOffer from "../../../sip/sdp/SdpOffer.ts"
import type { SipRequest, SipResponse } from "../../../sip/message/SipMessage.ts"
import type { CommandId } from "../../../domain/Id.ts"
import type { LegEnd, LegReport, SipTrunk } from "../../Carrier.ts"
import type * as Credentials from "../Credentials.ts"
import type { TransactionId } from "../TransactionLayer.ts"

export type Phase =
  /** No 2xx to its INVITE. */
  | "early"
  /** A 2xx, without its ACK. */
  | "accepted"
  | "established"
  /** Our BYE went; or the peer's came. */
  | "hungUp"
  | "left"

/** What a call may ask of a confirmed dialog. Its outcomes name `commandId`; exactly one of them is the last. */
export type Action =
  /** A re-INVITE; `direction` is what we want of the sound: `sendonly` holds. */
  | { readonly type: "renegotiate"; readonly commandId: CommandId; readonly direction: Direction }
  | { readonly type: "info"; readonly commandId: CommandId; readonly body: Body }
  /** Asks the peer to call `uri`, RFC 3515. */
  | { readonly type: "refer"; readonly commandId: CommandId; readonly uri: string }

/**
 * `status` is of the final response, of a REFER of the request that it asked for (also provisional ones); `null`: it
 * was not sent, or nobody knows what became of it.
 */
export interface Outcome {
  readonly commandId: CommandId
  readonly status: number | null
  readonly isLast: boolean
}

/** A request of ours that has no final response. */
export interface Own {
  readonly cseq: number
  readonly request: SipRequest
  readonly credentials: Credentials.Credentials
  readonly purpose: { readonly type: "bye"; readonly end: LegEnd } | (Action & { readonly attempt: number })
}

/** A re-INVITE that is wanted and not under way. */
export interface Wanted {
  readonly action: Extract<Action, { readonly type: "renegotiate" }>
  /** How often it has met 491. */
  readonly attempt: number
  /** `null`: as soon as nothing else is negotiated. */
  readonly notBefore: number | null
}

export interface State {
  readonly phase: Phase
  readonly dialog: Dialog.Dialog
  /** Whether the INVITE that made the dialog, and its Call-ID, are ours. */
  readonly isCaller: boolean
  /** By which its packets came. */
  readonly flow: Flow
  /** Whose password answers a challenge to requests of ours. */
  readonly trunk: SipTrunk | null
  readonly agent: Agent
  /** Where we receive sound. */
  readonly local: OfferAnswer.Local
  readonly media: OfferAnswer.State
  /** Our 2xx to an INVITE of the peer waits for its ACK. */
  readonly isAwaitingAck: boolean
  /** Asked to go before the ACK: then BYE follows it (RFC 3261 section 15). */
  readonly leaving: LegEnd | null
  readonly own: ReadonlyArray<Own>
  readonly wanted: Wanted | null
  readonly subscriptions: ReadonlyArray<{ readonly commandId: CommandId; readonly state: ReferSubscription.State }>
}

/** How we name ourselves. */
export interface Agent {
  readonly userAgent: string
  /** Host of our Contact, in a Warning. */
  readonly host: string
}

/** Responses to a request of the peer that wait until an event is through: where it is durable, and where it is not. */
export interface Owed {
  readonly id: TransactionId
  readonly durable: SipResponse
  readonly lost: SipResponse
}

/** What follows when an event is through. */
export type After =
  | ({ readonly type: "respond" } & Owed)
  | { readonly type: "acknowledge"; readonly invite: SipRequest }

export type Input =
  /** A request of the peer within the dialog, but ACK and CANCEL. */
  | { readonly type: "request"; readonly id: TransactionId; readonly request: SipRequest }
  /** The ACK to our 2xx; the first one. */
  | { readonly type: "acknowledged"; readonly ack: SipRequest }
  /** No ACK came in 64*T1. */
  | { readonly type: "abandoned" }
  /** What became of a request of ours. */
  | { readonly type: "response"; readonly cseq: number; readonly response: SipResponse }
  | { readonly type: "failed"; readonly cseq: number; readonly reason: "timeout" | "transport" | "full" | "duplicate" }
  /** The 2xx to our first INVITE may be acknowledged. */
  | { readonly type: "acknowledge"; readonly invite: SipRequest }
  | { readonly type: "action"; readonly action: Action }
  | { readonly type: "hangUp"; readonly end: LegEnd }
  | { readonly type: "due" }
  /** Nobody asks for outcomes any more: those that are open are told as unknown. */
  | { readonly type: "over" }

/** A request of ours with what tells its way. */
export interface Sent {
  readonly request: SipRequest
  readonly dialog: Dialog.Dialog
  readonly flow: Flow
}

export type Output =
  | { readonly type: "respond"; readonly id: TransactionId; readonly response: SipResponse }
  /** A 2xx to an INVITE: repeated until its ACK comes, or `stopRepeating`. */
  | { readonly type: "succeed"; readonly id: TransactionId; readonly response: SipResponse; readonly dialog: string }
  | { readonly type: "stopRepeating" }
  /** A request of ours, still without Via, by the way to the next hop of `dialog`. */
  | ({ readonly type: "request"; readonly cseq: number } & Sent)
  /** An ACK to a 2xx, likewise. */
  | ({ readonly type: "ack" } & Sent)
  | { readonly type: "connect"; readonly terms: SdpOffer.Agreed }
  | { readonly type: "tell"; readonly report: LegReport; readonly after: After | null }
  | ({ readonly type: "outcome" } & Outcome)
  /** The peer left; its BYE is answered when the end is through. */
  | { readonly type: "left"; readonly owed: Owed }
  /** The leg is to end, soon whatever the peer says. */
  | { readonly type: "leaving"; readonly end: LegEnd }
  /** Our BYE is through. */
  | { readonly type: "ended"; readonly end: LegEnd }

export interface Env {
  /** Monotonic milliseconds. */
  readonly now: number
  /** 16 unpredictable bytes in hex, others at each step. */
  readonly token: string
}

export interface Step {
  readonly state: State
  readonly outputs: ReadonlyArray<Output>
}

export const stay = (state: State, ...outputs: ReadonlyArray<Output>): Step => ({ state, outputs })

export const sent = ({ flow }: State, request: SipRequest, dialog: Dialog.Dialog): Sent => ({ request, dialog, flow })

/** The outputs of `before`, then `next` over its state. */
export const andThen = (before: Step, next: (state: State) => Step): Step => {
  const after = next(before.state)
  return { state: after.state, outputs: [...before.outputs, ...after.outputs] }
}

/** A whole number below `bound` out of the token. */
export const chance = ({ token }: Env, bound: number): number => Number.parseInt(token.slice(0, 8), 16) % bound
