import type { Effect } from "effect"
import type { LegId } from "../../domain/Id.ts"
import type { MediaPlane } from "../../media/plane/MediaPlane.ts"
import type * as FairShare from "../../domain/fair/FairShare.ts"
import type * as OfferAnswer from "../../protocol/sip/sdp/OfferAnswer.ts"
import type { Flow } from "../../protocol/sip/Flow.ts"
import type { CallIds } from "../../protocol/sip/message/header/CallIds.ts"
import type { SipRequest } from "../../protocol/sip/message/SipMessage.ts"
import type { Bridgeable, Bridges } from "../bridge/Bridges.ts"
import type { CarrierCommand, CarrierSink, LegFacts, RouteDirectory } from "../Carrier.ts"
import type { OrderMemory } from "../OrderMemory.ts"
import type * as SharedRooms from "../room/SharedRooms.ts"
import type { TrunkStates } from "../peer/TrunkStates.ts"
import type { Refused } from "./InviteLog.ts"
import type { Run } from "./leg/LegEvents.ts"
import type { LegSounds } from "../LegSounds.ts"
import type * as LegQualityLog from "./LegQualityLog.ts"
import type { NonceMemory } from "./NonceMemory.ts"
import type { Action, Outcome } from "./session/SessionState.ts"
import type { TransactionLayer, TransactionId } from "./TransactionLayer.ts"
import type { Transports } from "./transport/Transports.ts"

/** A leg as the port sees it. Its functions never throw and never wait. */
export interface Leg extends Bridgeable {
  readonly command: (command: CarrierCommand) => void
  /** Sends a request to the peer within the dialog. `heard` is called with the outcome, if the action has one. */
  readonly perform: (action: Action, heard: (outcome: Outcome) => void) => void
  /** Null until the leg is admitted. */
  readonly facts: () => LegFacts | null
  /** Calls `then` when the sink has settled every event that the leg has reported so far. */
  readonly caughtUp: (then: () => void) => void
}

/** The owner of a dialog, which receives the peer's requests within it. */
export interface DialogListener {
  readonly request: (id: TransactionId, request: SipRequest, from: Flow) => void
  /** The ACK to a 2xx of ours. */
  readonly ack: (request: SipRequest) => void
}

/** A leg that owes the answer to a peer's INVITE. */
interface InviteListener {
  /** The To tag of all our responses. */
  readonly localTag: string
  /** A CANCEL arrived and was answered. */
  readonly cancelled: (cancel: SipRequest) => void
  /** The peer acknowledged our 3xx to 6xx, or did not within 64*T1. */
  readonly refused: (acknowledged: boolean) => void
}

/** The state and services that the legs of one user agent share. A leg that enters itself in a map takes itself out. */
export interface Context {
  readonly transports: Transports["Service"]
  /** Our name in User-Agent. */
  readonly userAgent: string
  /** The codecs that we offer and answer with. */
  readonly negotiation: Pick<OfferAnswer.Local, "codecs" | "codecChoice">
  readonly transactions: TransactionLayer
  readonly run: Run
  readonly plane: MediaPlane["Service"]
  readonly sink: CarrierSink["Service"]
  /** Names this life of the carrier. */
  readonly incarnation: string
  readonly memory: OrderMemory<LegId>
  /** The monotonic clock in milliseconds. */
  readonly steadyMs: () => number
  readonly directory: RouteDirectory["Service"]
  readonly nonces: NonceMemory
  /** Called when a leg that had sound ends: `sounded` follows. */
  readonly soundEnds: LegSounds["Service"]["expect"]
  /** Receives the sound quality of a leg when its media has gone. */
  readonly sounded: (leg: LegQualityLog.Gone) => void
  /** The addresses of a host in canonical spelling, the preferred first; a literal is its own address. */
  readonly resolve: (host: string) => Effect.Effect<ReadonlyArray<string>, unknown>
  /** Unpredictable bytes in hex; `bytes` is their number. */
  readonly random: (bytes: number) => string
  readonly legs: Map<LegId, Leg>
  readonly bridges: Bridges
  readonly rooms: Pick<SharedRooms.Joined, "join" | "leave" | "ended">
  /** The shares of peers in the legs that they placed, by address. */
  readonly callers: FairShare.FairShare
  /** Reports to the operator an INVITE that became no call. */
  readonly refused: (refused: Refused) => void
  /** Counts the outcome of a call that we placed by this route. */
  readonly counted: TrunkStates["Service"]["count"]
  /** Keyed by `MessageKey.dialog`. */
  readonly dialogs: Map<string, DialogListener>
  /** The Call-IDs of `dialogs`. */
  readonly callIds: CallIds
  readonly invites: Map<TransactionId, InviteListener>
}

/** How long a leg that has to end waits for its peer before it is reported as ended. Its BYE is still repeated. */
export const releaseLimitMs = 8_000

export const ignore = (): void => undefined
