/** The state and inputs of `OutboundLegMachine`. */
import * as OfferAnswer from "../../../../protocol/sip/sdp/OfferAnswer.ts"
import type { SipRequest, SipResponse } from "../../../../protocol/sip/message/SipMessage.ts"
import type { CarrierCommand, LegEnd } from "../../../Carrier.ts"
import * as Credentials from "../../Credentials.ts"
import type { DialIdentity } from "./DialIdentity.ts"
import * as LegEnding from "../LegEnding.ts"
import type * as LegMachine from "../LegMachine.ts"
import type * as NextHop from "../../transport/NextHop.ts"
import type { SelfAddress } from "../../transport/SelfAddress.ts"
import type * as Session from "../../session/SessionState.ts"

type Phase =
  /** The leg waits for its trunk and its place in the media plane. */
  | "preparing"
  /** The INVITE is sent, without a response yet. */
  | "calling"
  /** A provisional response arrived. */
  | "proceeding"
  /** A 2xx made the session. */
  | "answered"
  /** The leg has ended; it only takes down a branch that answers late. */
  | "over"

/** A trunk, the way to it, and our own address on that way. */
export interface Way extends NextHop.Reached {
  readonly self: SelfAddress
}

export interface State {
  readonly phase: Phase
  readonly dial: Extract<CarrierCommand, { readonly type: "dial" }>
  readonly identity: DialIdentity
  readonly userAgent: string
  readonly way: Way | null
  /** The last INVITE that was sent. */
  readonly invite: SipRequest | null
  readonly credentials: Credentials.Credentials
  readonly local: OfferAnswer.Local
  /** Our offer, in the state before any branch answers it. */
  readonly media: OfferAnswer.State
  /** The dialogs of the ringing branches, at most 16. */
  readonly early: ReadonlyArray<Session.State>
  /** The tag of the branch whose early media is connected. */
  readonly hearing: string | null
  readonly session: Session.State | null
  /** How the leg ends as soon as it can; set when it had to end before the answer. */
  readonly leaving: LegEnd | null
  readonly isCancelled: boolean
  readonly hasRung: boolean
  readonly hasEarlyMedia: boolean
  readonly ending: LegEnding.LegEnding
}

/** The inputs beyond those of every leg. */
export type Own =
  /** The way to the trunk; null when there is no trunk, or its address is not found. */
  | { readonly type: "routed"; readonly way: Way | null }
  | { readonly type: "response"; readonly invite: SipRequest; readonly response: SipResponse }
  | {
      readonly type: "failed"
      readonly invite: SipRequest
      readonly reason: "timeout" | "transport" | "full" | "duplicate"
    }
  | { readonly type: "release" }

export type Input = LegMachine.Input | Own

export const start = (
  dial: State["dial"],
  identity: DialIdentity,
  userAgent: string,
  negotiation: Pick<OfferAnswer.Local, "codecs" | "codecChoice">
): State => ({
  phase: "preparing",
  dial,
  identity,
  userAgent,
  way: null,
  invite: null,
  credentials: Credentials.none,
  local: {
    addresses: { ipv4: null, ipv6: null },
    family: "ipv4",
    port: 0,
    sessionId: identity.sessionId,
    ...negotiation
  },
  media: OfferAnswer.initial,
  early: [],
  hearing: null,
  session: null,
  leaving: null,
  isCancelled: false,
  hasRung: false,
  hasEarlyMedia: false,
  ending: LegEnding.live
})
