import { Schema } from "effect"
import { ToConference } from "../../call/Call.ts"
import { RoomEvent, RoomSnapshot } from "../../../carrier/room/RoomEvent.ts"
import * as Secret from "../../../domain/schema/Secret.ts"
import * as Id from "../../../domain/Id.ts"
import { Beep, OnMemberLeft } from "./ConferenceState.ts"
import { facts } from "../verb/ConferenceVerb.ts"
import * as ConferenceField from "../verb/ConferenceField.ts"
import { ConferenceAction } from "../verb/ConferenceVerbs.ts"

const Deadline = Schema.Literals(["live", "unstarted", "duration", "alone", "told", "stored", "unpaid", "over", "lost"])
export type Deadline = typeof Deadline.Type

/**
 * Everything that can happen to a conference: requests of the API, messages of calls, events of its room, due
 * deadlines, `recovered`. Facts from outside are values inside the input, so that a replay asks nothing.
 */
export const ConferenceInput = Schema.Union([
  Schema.Struct({
    type: Schema.tag("create"),
    /** `Asking` derives the id from a seed of its own, because the actor is known by it before the first step. */
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
    durationMinutes: Schema.Int,
    holdAudioUrl: Schema.optionalKey(Secret.url(Schema.String)),
    endWhenAloneSecs: Schema.optionalKey(Schema.NullOr(Schema.Int)),
    onMemberLeft: Schema.optionalKey(OnMemberLeft),
    onMemberLeftAudioUrl: Schema.optionalKey(Secret.url(Schema.String))
  }),
  Schema.Struct({
    type: Schema.tag("action"),
    action: ConferenceAction,
    ...facts
  }),
  /** Claims a membership for a call that is now being dialled. */
  Schema.Struct({
    type: Schema.tag("claim"),
    memberId: Id.MemberId,
    callId: Id.CallId,
    legId: Id.LegId,
    customerReference: Schema.optionalKey(Schema.NullOr(Schema.String)),
    entering: Schema.optionalKey(ConferenceField.Entering)
  }),
  Schema.Struct({ type: Schema.tag("told"), told: ToConference }),
  Schema.Struct({ type: Schema.tag("room"), event: RoomEvent }),
  /** Several events of its room, in their order, which are committed together. */
  Schema.Struct({ type: Schema.tag("room_events"), events: Schema.Array(RoomEvent) }),
  Schema.Struct({ type: Schema.tag("deadline"), deadline: Deadline }),
  /** The minutes that the account reserved for each meter, as for a call; null: it refused, or did not answer. */
  Schema.Struct({ type: Schema.tag("renewal"), reservedMinutes: Schema.NullOr(Schema.Array(Schema.Int)) }),
  /**
   * The conference was rebuilt, or its carrier is back or away. `snapshot` is the carrier's view of its room, null when
   * the carrier cannot be asked. `lostAt` is the last sign of life from the source of the room's events.
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
