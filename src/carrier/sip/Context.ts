import type { Effect } from "effect"
import type { LegId } from "../../domain/Id.ts"
import type { MediaPlane } from "../../media/MediaPlane.ts"
import type * as FairShare from "../../sip/transaction/FairShare.ts"
import type { Codec } from "../../sip/sdp/SdpOffer.ts"
import type { SipRequest } from "../../sip/message/SipMessage.ts"
import type { CarrierCommand, CarrierSink, LegFacts, RouteDirectory } from "../Carrier.ts"
import type { LegMemory } from "../LegMemory.ts"
import type { Run } from "./leg/LegEvents.ts"
import type { Action, Outcome } from "./session/SessionState.ts"
import type { TransactionLayer, TransactionId } from "./TransactionLayer.ts"
import type { Transports } from "./transport/Transports.ts"

/** A leg as the port sees it. Never throws, never waits. */
export interface Leg {
  readonly command: (command: CarrierCommand) => void
  /** Within its dialog; `heard` is called with each outcome, the last of which says so. */
  readonly perform: (action: Action, heard: (outcome: Outcome) => void) => void
  /** Null: nobody has admitted it. */
  readonly facts: () => LegFacts | null
  /** Calls `then` when all that it has told until now is through. */
  readonly caughtUp: (then: () => void) => void
}

/** Whoever owns a dialog hears the peer's requests within it. */
export interface DialogListener {
  readonly request: (id: TransactionId, request: SipRequest) => void
  /** ACK to a 2xx of ours. */
  readonly ack: (request: SipRequest) => void
}

/** Whoever owes an answer to a peer's INVITE. */
interface InviteListener {
  /** To tag of all our responses. */
  readonly localTag: string
  /** CANCEL came; it is answered already. */
  readonly cancelled: () => void
  /** Our 3xx to 6xx was acknowledged, or nobody did in 64*T1. */
  readonly refused: (acknowledged: boolean) => void
}

/** What the legs of one user agent share. Entries are taken out by whoever put them in. */
export interface Context {
  readonly transports: Transports["Service"]
  /** Our name, in User-Agent. */
  readonly userAgent: string
  /** What we offer and answer with, most wanted first. */
  readonly codecs: ReadonlyArray<Codec>
  readonly transactions: TransactionLayer
  readonly run: Run
  readonly plane: MediaPlane["Service"]
  readonly sink: CarrierSink["Service"]
  /** Of this life of the carrier. */
  readonly incarnation: string
  readonly memory: LegMemory
  /** Monotonic milliseconds. */
  readonly steadyMs: () => number
  readonly directory: RouteDirectory["Service"]
  /** The addresses of a host in their one spelling, the preferred first; of a literal itself. */
  readonly resolve: (host: string) => Effect.Effect<ReadonlyArray<string>, unknown>
  /** That many unpredictable bytes in hex. */
  readonly random: (bytes: number) => string
  readonly legs: Map<LegId, Leg>
  /** Legs that peers placed, by their address. */
  readonly callers: FairShare.FairShare
  /** By `MessageKey.dialog`. */
  readonly dialogs: Map<string, DialogListener>
  readonly invites: Map<TransactionId, InviteListener>
}

/** A leg is reported as ended this long after it was asked to go, whatever its peer says; its BYE goes on being sent. */
export const releaseLimitMs = 8_000

export const ignore = (): void => undefined
