import { Schema } from "effect"
import { CallId, CommandId, LegId } from "../domain/Id.ts"
import * as MediaMessage from "../media/message/MediaMessage.ts"

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

/** How a leg came to its end. */
const end = {
  cause: Schema.Literals(["hangup", "cancelled", "final_response", "timer", "no_route", "error", "lost"]),
  /** The status of the final answer that caused it; null: none did. */
  sipStatus: Schema.NullOr(Schema.Number),
  /** `far`: the peer; `near`: we did it (on command); `network`: neither. */
  by: Schema.Literals(["far", "near", "network"])
}
const LegEnd = Schema.Struct(end)
export type LegEnd = typeof LegEnd.Type

/** With `resume` the adapter finds the leg again after a restart; nobody else reads it. */
export const CarrierEvent = Schema.Union([
  Schema.Struct({ ...ofLeg, type: Schema.tag("ringing"), resume: Schema.Json }),
  Schema.Struct({ ...ofLeg, type: Schema.tag("early_media"), resume: Schema.Json }),
  /** The dialog stands (for an inbound leg: the far end confirmed our answer). */
  Schema.Struct({ ...ofLeg, type: Schema.tag("answered"), resume: Schema.Json }),
  Schema.Struct({ ...ofLeg, type: Schema.tag("ended"), ...end }),
  /** The leg and `peerLegId`, of the call `peerCallId`, hear each other. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("bridged"), peerLegId: LegId, peerCallId: CallId }),
  /** They no longer do; `peerEnded`: because the peer's leg is gone. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("unbridged"), peerLegId: LegId, peerEnded: Schema.Boolean }),
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
