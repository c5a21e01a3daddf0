import { Schema } from "effect"
import { CallId, CommandId, ConferenceId, LegId, MemberId } from "../domain/Id.ts"
import * as MediaMessage from "../ports/media/MediaMessage.ts"

/**
 * Every event of a carrier about a leg has these: plain data, journaled with its times on the call's clock.
 *
 * `at` is a reading of this process's monotonic clock, in milliseconds. A carrier in another process translates its
 * own.
 */
const ofLeg = {
  legId: LegId,
  at: Schema.Number,
  /** Names the life of the carrier that tells it. */
  incarnation: Schema.String,
  /** 1, 2, 3 and so on for each leg within one incarnation. */
  n: Schema.Int
}

/** How one direction of the sound of a leg went, from its beginning to its end. */
const StreamQuality = Schema.Struct({
  /** RTP packets: those that we received, or those that we sent. */
  packets: Schema.Int,
  /** Of these, the packets that never came. */
  lost: Schema.Int,
  /** Interarrival jitter, RFC 3550 section 6.4.1. */
  jitterMs: Schema.Finite,
  /** Mean opinion score by the E-model, ITU-T G.107, 1 to 4.5; null: no packet came. */
  mos: Schema.NullOr(Schema.Finite)
})

/** How a leg sounded. */
export const LegQuality = Schema.Struct({
  /** The codec that was agreed last. */
  codec: Schema.String,
  /** Of the stream that we received. */
  inbound: StreamQuality,
  /** Of the stream that we sent, as the peer reported it (RTCP); null: it reported nothing. */
  outbound: Schema.NullOr(StreamQuality),
  /** Null until the peer reported on what we send. */
  roundTripMs: Schema.NullOr(Schema.Finite)
})
export type LegQuality = typeof LegQuality.Type

/** A Reason header field, RFC 3326: why the peer ended the leg, in the words of `protocol` (`SIP`, `Q.850`). */
export const PeerReason = Schema.Struct({
  protocol: Schema.String,
  cause: Schema.NullOr(Schema.Int),
  text: Schema.NullOr(Schema.String)
})
export type PeerReason = typeof PeerReason.Type

/** How a leg came to its end. */
const end = {
  cause: Schema.Literals(["hangup", "cancelled", "final_response", "timer", "no_route", "error", "lost"]),
  /** The status of the final answer that caused it; null: none did. */
  sipStatus: Schema.NullOr(Schema.Number),
  /** `far`: the peer; `near`: we did it (on command); `network`: neither. */
  by: Schema.Literals(["far", "near", "network"]),
  /** Why, as the peer said with its BYE, CANCEL or final answer; absent: it said nothing. */
  peerReason: Schema.optionalKey(PeerReason)
}
const LegEnd = Schema.Struct(end)
export type LegEnd = typeof LegEnd.Type

/** With `resume` the adapter finds the leg again after a restart; nobody else reads it. */
export const CarrierEvent = Schema.Union([
  Schema.Struct({ ...ofLeg, type: Schema.tag("ringing"), resume: Schema.Json }),
  Schema.Struct({ ...ofLeg, type: Schema.tag("early_media"), resume: Schema.Json }),
  /** The dialog stands (for an inbound leg: the far end confirmed our answer). */
  Schema.Struct({ ...ofLeg, type: Schema.tag("answered"), resume: Schema.Json }),
  /** `quality` is absent where nothing was measured: of a leg without RTP, or without a packet either way. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("ended"), ...end, quality: Schema.optionalKey(LegQuality) }),
  /** The leg and `peerLegId`, of the call `peerCallId`, hear each other. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("bridged"), peerLegId: LegId, peerCallId: CallId }),
  /** They no longer do; `peerEnded`: because the peer's leg is gone. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("unbridged"), peerLegId: LegId, peerEnded: Schema.Boolean }),
  /** The leg is in the room of the conference, as this member. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("room_joined"), conferenceId: ConferenceId, memberId: MemberId }),
  /** It no longer is: it left, was removed, or the room is gone. Not told of a leg that has ended. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("room_left"), conferenceId: ConferenceId, memberId: MemberId }),
  /**
   * What became of a REFER (RFC 3515): the peer took it, and then what it reports of the call that it made in place of
   * us. `sipStatus`: of the peer's answer, or the one that it reports; null: the subscription ended without one.
   */
  Schema.Struct({
    ...ofLeg,
    type: Schema.tag("referred"),
    commandId: CommandId,
    status: Schema.Literals(["accepted", "completed", "failed"]),
    sipStatus: Schema.NullOr(Schema.Number)
  }),
  /** An event of the leg's media for the call; a carrier passes it on unopened. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("media"), event: MediaMessage.MediaEvent }),
  /** The carrier itself could not carry the command out. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("command_failed"), commandId: CommandId, reason: Schema.String })
])
export type CarrierEvent = typeof CarrierEvent.Type

/** The same event with its times on another clock; `of` translates one. */
export const inTime = (event: CarrierEvent, of: (at: number) => number): CarrierEvent =>
  event.type === "media"
    ? { ...event, at: of(event.at), event: MediaMessage.inTime(event.event, of) }
    : { ...event, at: of(event.at) }

/** An event without the leg, the time, the incarnation and the number. */
export type LegReport = CarrierEvent extends infer Event
  ? Event extends CarrierEvent
    ? Omit<Event, keyof typeof ofLeg>
    : never
  : never

/**
 * What became of an event.
 *
 * - `committed`: the event and all before it of its leg are durable, so the peer may get its acknowledgement. An event
 *   that was heard before is answered so, too.
 * - `unknown`: no such call lives here, and none will. The carrier takes the leg down and forgets it.
 * - `fault`: the event is not durable. The carrier tells it again.
 */
export const Told = Schema.Literals(["committed", "unknown", "fault"])
export type Told = typeof Told.Type
