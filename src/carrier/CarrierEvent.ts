import { Schema } from "effect"
import { CommandId, LegId } from "../domain/Id.ts"
import * as MediaMessage from "../media/message/MediaMessage.ts"

/**
 * What a carrier tells of a leg: plain data, journaled with its times in the call's.
 *
 * `at` is a reading of this process's monotonic clock, milliseconds; who carries for a process of its own translates.
 */
const ofLeg = {
  legId: LegId,
  at: Schema.Number,
  /** Of the life of the carrier that tells it. */
  incarnation: Schema.String,
  /** 1, 2, 3 and so on for each leg within one incarnation. */
  n: Schema.Int
}

/** How a leg came to its end. */
const end = {
  cause: Schema.Literals(["hangup", "cancelled", "final_response", "timer", "no_route", "error", "lost"]),
  /** Where a final answer caused it. */
  sipStatus: Schema.NullOr(Schema.Number),
  /** `far`: the peer; `near`: we did it (on command); `network`: neither. */
  by: Schema.Literals(["far", "near", "network"])
}
const LegEnd = Schema.Struct(end)
export type LegEnd = typeof LegEnd.Type

/** `resume` is what the adapter needs to find the leg again after a restart; nobody else reads it. */
export const CarrierEvent = Schema.Union([
  Schema.Struct({ ...ofLeg, type: Schema.tag("ringing"), resume: Schema.Json }),
  Schema.Struct({ ...ofLeg, type: Schema.tag("early_media"), resume: Schema.Json }),
  /** The dialog stands (for an inbound leg: the far end confirmed our answer). */
  Schema.Struct({ ...ofLeg, type: Schema.tag("answered"), resume: Schema.Json }),
  Schema.Struct({ ...ofLeg, type: Schema.tag("ended"), ...end }),
  /** What the media of the leg tells the call; a carrier passes it on unopened. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("media"), event: MediaMessage.MediaEvent }),
  /** The carrier itself could not carry the command out. */
  Schema.Struct({ ...ofLeg, type: Schema.tag("command_failed"), commandId: CommandId, reason: Schema.String })
])
export type CarrierEvent = typeof CarrierEvent.Type

/** The same event with its times in another clock's. */
export const inTime = (event: CarrierEvent, of: (at: number) => number): CarrierEvent =>
  event.type === "media"
    ? { ...event, at: of(event.at), event: MediaMessage.inTime(event.event, of) }
    : { ...event, at: of(event.at) }

/** An event without what names, dates and numbers it. */
export type LegReport = CarrierEvent extends infer Event
  ? Event extends CarrierEvent
    ? Omit<Event, keyof typeof ofLeg>
    : never
  : never

/**
 * What became of an event. `committed`: it and all before it of its leg are durable, so what it acknowledges may be
 * acknowledged to the peer; also said of an event that was heard before. `unknown`: no such call lives here, and none
 * will: what is left of the leg may be taken down and forgotten. `fault`: it is not durable; tell it again.
 */
export const Told = Schema.Literals(["committed", "unknown", "fault"])
export type Told = typeof Told.Type
