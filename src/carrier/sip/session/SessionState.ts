/** The state, inputs and outputs of `SessionMachine`, which is one dialog of a leg. */
import type * as Dialog from "../../../protocol/sip/dialog/Dialog.ts"
import type { Flow } from "../../../protocol/sip/Flow.ts"
import type * as OfferAnswer from "../../../protocol/sip/sdp/OfferAnswer.ts"
import type * as ReferSubscription from "../../../protocol/sip/dialog/ReferSubscription.ts"
import type { Body } from "../../../protocol/sip/message/Requests.ts"
import type { Direction } from "../../../protocol/sip/sdp/Sdp.ts"
import type { Reason } from "../../../protocol/sip/message/header/Reason.ts"
import type * as SdpOffer from "../../../protocol/sip/sdp/SdpOffer.ts"
import type { Header, SipRequest, SipResponse } from "../../../protocol/sip/message/SipMessage.ts"
import type { CommandId } from "../../../domain/Id.ts"
import type { LegEnd, LegReport, SipTrunk } from "../../Carrier.ts"
import type * as Credentials from "../Credentials.ts"
import type { TransactionId } from "../TransactionLayer.ts"

export type Phase =
  /** The INVITE has no 2xx. */
  | "early"
  /** The INVITE has a 2xx without the ACK. */
  | "accepted"
  | "established"
  /** Our BYE was sent, or the peer's arrived. */
  | "hungUp"
  | "left"

/** An action that a call requests within a confirmed dialog. Its outcome names `commandId`. */
export type Action =
  /** Sends a re-INVITE. `direction` is the direction that we want for the sound: `sendonly` holds. */
  | { readonly type: "renegotiate"; readonly commandId: CommandId; readonly direction: Direction }
  | { readonly type: "info"; readonly commandId: CommandId; readonly body: Body }
  /** Asks the peer to call `uri`, RFC 3515. It has no outcome, but reports `referred` or `command_failed`. */
  | {
      readonly type: "refer"
      readonly commandId: CommandId
      readonly uri: string
      readonly headers: ReadonlyArray<Header>
    }

/** `status` is that of the final response; `null` when the request was not sent, or its result is unknown. */
export interface Outcome {
  readonly commandId: CommandId
  readonly status: number | null
}

/** A request of ours without a final response yet. */
export interface Own {
  readonly cseq: number
  readonly request: SipRequest
  readonly credentials: Credentials.Credentials
  readonly purpose:
    | { readonly type: "bye"; readonly end: LegEnd }
    /** A re-INVITE of a leg that has ended: its 2xx is only acknowledged. */
    | { readonly type: "forgotten" }
    | (Action & { readonly attempt: number })
}

/** A re-INVITE that waits until it may be sent. */
export interface Wanted {
  readonly action: Extract<Action, { readonly type: "renegotiate" }>
  /** How often it got 491. */
  readonly attempt: number
  /** The time that it waits for; null when it is sent as soon as nothing else is negotiated. */
  readonly notBefore: number | null
}

export interface State {
  readonly phase: Phase
  readonly dialog: Dialog.Dialog
  /** Whether the INVITE that made the dialog, and its Call-ID, are ours. */
  readonly isCaller: boolean
  /** The changed target of the dialog that is being reported; null when none is. */
  readonly moving: Target | null
  /** The flow by which the packets of the dialog arrived. */
  readonly flow: Flow
  /** The trunk whose password answers a challenge to our requests. */
  readonly trunk: SipTrunk | null
  /** The nonces of the trunk, read anew for each step: its other legs use them, too. */
  readonly nonces: Credentials.Nonces
  readonly agent: Agent
  /** The place where we receive sound. */
  readonly local: OfferAnswer.Local
  readonly media: OfferAnswer.State
  /** Whether our 2xx to an INVITE of the peer still waits for its ACK. */
  readonly isAwaitingAck: boolean
  /** The end that was requested before the ACK; the BYE follows the ACK (RFC 3261 section 15). */
  readonly leaving: LegEnd | null
  readonly own: ReadonlyArray<Own>
  readonly wanted: Wanted | null
  readonly subscriptions: ReadonlyArray<{ readonly commandId: CommandId; readonly state: ReferSubscription.State }>
}

/** Where the requests of a dialog go. */
export interface Target {
  readonly remoteTarget: string
  readonly flow: Flow
}

/** Our names in a dialog. */
interface Agent {
  readonly userAgent: string
  /** The host of our Contact, for a Warning. */
  readonly host: string
}

/** Two responses to a request of the peer, one of which is sent when an event is settled: `durable` or `lost`. */
export interface Owed {
  readonly id: TransactionId
  readonly durable: SipResponse
  readonly lost: SipResponse
}

/** The step that follows when an event is settled. */
export type After =
  | ({ readonly type: "respond" } & Owed)
  | { readonly type: "acknowledge"; readonly invite: SipRequest }
  | { readonly type: "moved" }

export type Input =
  /** A request of the peer within the dialog, other than ACK and CANCEL. */
  | {
      readonly type: "request"
      readonly id: TransactionId
      readonly request: SipRequest
      /** The flow of its responses. */
      readonly flow: Flow
    }
  /** The first ACK to our 2xx arrived. */
  | { readonly type: "acknowledged"; readonly ack: SipRequest }
  /** No ACK arrived within 64*T1. */
  | { readonly type: "abandoned" }
  /** A response to a request of ours. */
  | { readonly type: "response"; readonly cseq: number; readonly response: SipResponse }
  | { readonly type: "failed"; readonly cseq: number; readonly reason: "timeout" | "transport" | "full" | "duplicate" }
  /** The ACK to the 2xx of our first INVITE may be sent. */
  | { readonly type: "acknowledge"; readonly invite: SipRequest }
  | { readonly type: "action"; readonly action: Action }
  | { readonly type: "hangUp"; readonly end: LegEnd }
  /** The report of the dialog's new target is settled. */
  | { readonly type: "moved" }
  | { readonly type: "due" }
  /** The leg has ended: every open outcome is reported as unknown. */
  | { readonly type: "over" }

/** A request of ours with its dialog and its flow, which decide the next hop. */
export interface Sent {
  readonly request: SipRequest
  readonly dialog: Dialog.Dialog
  readonly flow: Flow
}

export type Output =
  | { readonly type: "respond"; readonly id: TransactionId; readonly response: SipResponse }
  /** A 2xx to an INVITE, repeated until its ACK arrives, or `stopRepeating`. */
  | { readonly type: "succeed"; readonly id: TransactionId; readonly response: SipResponse; readonly dialog: string }
  | { readonly type: "stopRepeating" }
  /** A request of ours, still without Via, for the next hop of `dialog`. */
  | ({ readonly type: "request"; readonly cseq: number } & Sent)
  /** An ACK to a 2xx, also still without Via. */
  | ({ readonly type: "ack" } & Sent)
  /** Point the media at the peer, which has not answered yet if `isEarly`. */
  | { readonly type: "connect"; readonly terms: SdpOffer.Agreed; readonly isEarly?: true }
  | { readonly type: "tell"; readonly report: LegReport; readonly after: After | null }
  | ({ readonly type: "outcome" } & Outcome)
  /** The peer sent BYE, for this reason; `owed` answers it when the end is settled. */
  | { readonly type: "left"; readonly owed: Owed; readonly reason: Reason | null }
  /** The nonces of the trunk have changed. */
  | { readonly type: "nonces"; readonly trunk: SipTrunk; readonly nonces: Credentials.Nonces }
  /** The leg has to end soon, whatever the peer answers. */
  | { readonly type: "leaving"; readonly end: LegEnd }
  /** Our BYE has its final response, or will have none. */
  | { readonly type: "ended"; readonly end: LegEnd }

export interface Env {
  /** The monotonic clock in milliseconds. */
  readonly now: number
  /** 16 unpredictable bytes in hex, new ones at each step. */
  readonly token: string
  /** The nonces of a trunk that are in use now. */
  readonly nonces: (trunk: SipTrunk) => Credentials.Nonces
}

export interface Step {
  readonly state: State
  readonly outputs: ReadonlyArray<Output>
}

export const stay = (state: State, ...outputs: ReadonlyArray<Output>): Step => ({ state, outputs })

export const sent = ({ flow }: State, request: SipRequest, dialog: Dialog.Dialog): Sent => ({ request, dialog, flow })

/** Runs `next` on the state of `before`, and joins the outputs. */
export const andThen = (before: Step, next: (state: State) => Step): Step => {
  const after = next(before.state)
  return { state: after.state, outputs: [...before.outputs, ...after.outputs] }
}

export const targetOf = ({ dialog, flow }: State): Target => ({ remoteTarget: dialog.remoteTarget, flow })

/** A whole number below `bound`, taken from the token. */
export const chance = ({ token }: Env, bound: number): number => Number.parseInt(token.slice(0, 8), 16) % bound
