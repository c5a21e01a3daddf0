import { Schema } from "effect"
import * as EndWhy from "../domain/EndWhy.ts"
import { CallId, CommandId, ConferenceId, LegId, MemberId } from "../domain/Id.ts"
import * as MediaMessage from "../ports/media/MediaMessage.ts"

/**
 * The fields of every event of a carrier about a leg. An event is plain data, journaled with its times on the call's
 * clock.
 *
 * `at` is a reading of this process's monotonic clock, in milliseconds. A carrier in another process translates its own
 * clock.
 */
const ofLeg = {
  legId: LegId,
  at: Schema.Number,
  /** Names the life of the carrier that reports it. */
  incarnation: Schema.String,
  /** Counts 1, 2, 3 and so on for each leg within one incarnation. */
  n: Schema.Int
}

/**
 * The quality of one direction of a leg's sound over its whole life. The fields that are optional are absent in what
 * earlier versions stored.
 */
const StreamQuality = Schema.Struct({
  /** The RTP packets that we received or sent. */
  packets: Schema.Int,
  /** How many of them never arrived. */
  lost: Schema.Int,
  /** Interarrival jitter, RFC 3550 section 6.4.1: the last value, the mean and the maximum. */
  jitterMs: Schema.Finite,
  jitterMeanMs: Schema.optionalKey(Schema.Finite),
  jitterMaxMs: Schema.optionalKey(Schema.Finite),
  /** The mean opinion score by the E-model, ITU-T G.107, 1 to 4.5; null when no packet arrived. */
  mos: Schema.NullOr(Schema.Finite),
  /**
   * The packet-loss robustness factor of that score, ITU-T G.113 appendix I. In the stream that we sent it is an
   * assumption.
   */
  bpl: Schema.optionalKey(Schema.Finite)
})

/** The sound quality of a leg. */
export const LegQuality = Schema.Struct({
  /** The last agreed codec. */
  codec: Schema.String,
  /** The quality of the stream that we received. */
  inbound: StreamQuality,
  /** The quality of the stream that we sent, as the peer reported it (RTCP); null when it reported nothing. */
  outbound: Schema.NullOr(StreamQuality),
  /** Null until the peer has reported on our stream. */
  roundTripMs: Schema.NullOr(Schema.Finite)
})
export type LegQuality = typeof LegQuality.Type

/** A Reason header field, RFC 3326: why the peer ended the leg, in the terms of `protocol` (`SIP`, `Q.850`). */
export const PeerReason = Schema.Struct({
  protocol: Schema.String,
  cause: Schema.NullOr(Schema.Int),
  text: Schema.NullOr(Schema.String)
})
export type PeerReason = typeof PeerReason.Type

/** How a leg ended. */
const end = {
  cause: Schema.Literals(["hangup", "cancelled", "final_response", "timer", "no_route", "error", "lost"]),
  /** The status of the final answer that ended the leg; null when none did. */
  sipStatus: Schema.NullOr(Schema.Number),
  /** `far`: the peer ended it; `near`: we did (on command); `network`: neither. */
  by: Schema.Literals(["far", "near", "network"]),
  /** The reason that the peer gave with its BYE, CANCEL or final answer; absent when it gave none. */
  peerReason: Schema.optionalKey(PeerReason),
  /** The cause that only the adapter knows; absent when `cause`, `sipStatus` and `by` say everything. */
  why: Schema.optionalKey(EndWhy.Code)
}
const LegEnd = Schema.Struct(end)
export type LegEnd = typeof LegEnd.Type

/** With `resume` the adapter finds the leg again after a restart; only the adapter reads it. */
export const CarrierEvent = Schema.Union([
  Schema.Struct({ ...ofLeg, type: Schema.tag("ringing"), resume: Schema.Json }),
  Schema.Struct({ ...ofLeg, type: Schema.tag("early_media"), resume: Schema.Json }),
  /** The dialog is confirmed (for an inbound leg: the far end acknowledged our answer). */
  Schema.Struct({ ...ofLeg, type: Schema.tag("answered"), resume: Schema.Json }),
  /** `quality` is absent when nothing was measured: the leg had no RTP, or no packet in either direction. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("ended"), ...end, quality: Schema.optionalKey(LegQuality) }),
  /**
   * The leg has left: its sound has ended with this quality, and only the far end's answer to our BYE or CANCEL is
   * missing, which changes nothing. `ended` follows. Not reported where `ended` comes first.
   *
   * `resume` is there when the far end answered a leg that is not wanted (any more). That answer is acknowledged when
   * this event is durable, because from then on only a BYE takes the leg down, and the far end repeats nothing.
   */
  Schema.Struct({
    ...ofLeg,
    type: Schema.tag("leaving"),
    ...end,
    quality: Schema.optionalKey(LegQuality),
    resume: Schema.optionalKey(Schema.Json)
  }),
  /** The leg and `peerLegId`, of the call `peerCallId`, hear each other. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("bridged"), peerLegId: LegId, peerCallId: CallId }),
  /** The two legs no longer hear each other. `peerEnded` when the peer's leg has ended. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("unbridged"), peerLegId: LegId, peerEnded: Schema.Boolean }),
  /** The leg is in the room of the conference, as this member. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("room_joined"), conferenceId: ConferenceId, memberId: MemberId }),
  /**
   * The leg is no longer in the room: it left, was removed, or the room is gone. Not reported for a leg that has ended.
   */
  Schema.Struct({ ...ofLeg, type: Schema.tag("room_left"), conferenceId: ConferenceId, memberId: MemberId }),
  /**
   * The progress of a REFER (RFC 3515): the peer accepted it, and then what it reports of the call that it made in
   * place of us. `sipStatus` is the status of the peer's answer, or the one that it reports; null when the subscription
   * ended without one.
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
  /** The carrier could not carry the command out. */
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
 * The outcome of an event.
 *
 * - `committed`: the event and all earlier ones of its leg are durable, so the peer may get its acknowledgement. A
 *   repeated event gets this answer, too.
 * - `unknown`: no such call lives here, and none will. The carrier takes the leg down and forgets it.
 * - `fault`: the event is not durable. The carrier reports it again.
 */
export const Told = Schema.Literals(["committed", "unknown", "fault"])
export type Told = typeof Told.Type
