import { Schema } from "effect"
import { ToConference } from "../../call/Call.ts"
import { RoomEvent, RoomSnapshot } from "../../../carrier/room/RoomEvent.ts"
import * as Id from "../../../domain/Id.ts"
import { Beep } from "./ConferenceState.ts"
import { ConferenceAction } from "../verb/Verbs.ts"

const Deadline = Schema.Literals(["live", "unstarted", "duration", "told", "stored", "unpaid", "over", "lost"])
export type Deadline = typeof Deadline.Type

/**
 * Everything that can happen to a conference: what the API asks, what calls tell, events of its room, due deadlines,
 * `recovered`. What the outside knew at that moment is a value inside the input, so that a replay asks nobody.
 */
export const ConferenceInput = Schema.Union([
  Schema.Struct({
    type: Schema.tag("create"),
    /** The door derives it from a seed of its own: the actor is known by it before the first step. */
    conferenceId: Id.ConferenceId,
    timeOffsetMs: Schema.Number,
    tenantId: Id.TenantId,
    routeId: Id.RouteId,
    adapter: Schema.String,
    hostCallId: Id.CallId,
    hostLegId: Id.LegId,
    customerReference: Schema.NullOr(Schema.String),
    name: Schema.String,
    beepEnabled: Beep,
    startOnCreate: Schema.Boolean,
    endOnExit: Schema.Boolean,
    maxParticipants: Schema.Int,
    durationMinutes: Schema.Int
  }),
  Schema.Struct({
    type: Schema.tag("action"),
    action: ConferenceAction,
    /** What the plan of the tenant allows, with `update`; null: no bound of its own. */
    mostParticipants: Schema.NullOr(Schema.Int),
    /** With `record_start`: its price, and what the account reserved for it, in minutes of each meter. */
    recording: Schema.optionalKey(
      Schema.Struct({ microUsdPerMinute: Schema.Number, reservedMinutes: Schema.Array(Schema.Int) })
    )
  }),
  /** A seat for a call that is dialled now. */
  Schema.Struct({ type: Schema.tag("claim"), memberId: Id.MemberId, callId: Id.CallId, legId: Id.LegId }),
  Schema.Struct({ type: Schema.tag("told"), told: ToConference }),
  Schema.Struct({ type: Schema.tag("room"), event: RoomEvent }),
  Schema.Struct({ type: Schema.tag("deadline"), deadline: Deadline }),
  /** As of a call: what the account reserved of each meter; null: it refused, or did not answer. */
  Schema.Struct({ type: Schema.tag("renewal"), reservedMinutes: Schema.NullOr(Schema.Array(Schema.Int)) }),
  /**
   * The conference was rebuilt, or its carrier is back or away. `snapshot` is what the carrier says of its room, null
   * when it cannot be asked. `lostAt` is the last sign of life of what told of the room.
   */
  Schema.Struct({
    type: Schema.tag("recovered"),
    snapshot: Schema.NullOr(RoomSnapshot),
    lostAt: Schema.Number
  }),
  /** The conference cannot be kept alive (overflow, too many restarts, a row that cannot be read). */
  Schema.Struct({ type: Schema.tag("faulted"), reason: Schema.String }),
  /** The service or the operator ends it. */
  Schema.Struct({ type: Schema.tag("ended_by_system"), by: Schema.Literals(["service", "operator"]) })
])
export type ConferenceInput = typeof ConferenceInput.Type
