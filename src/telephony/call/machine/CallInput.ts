import { Schema } from "effect"
import { Prices } from "../../../domain/WorkPrice.ts"
import { RejectCause } from "../../../carrier/CarrierCommand.ts"
import { CarrierEvent } from "../../../carrier/CarrierEvent.ts"
import { Snapshot } from "../../../carrier/Snapshot.ts"
import { CallId, ConferenceId, LegId, MemberId, RouteId, TenantId } from "../../../domain/Id.ts"
import { CustomHeader } from "../../../domain/CustomHeader.ts"
import { Limit } from "./leg/Leg.ts"
import { DialOptions } from "./leg/Pending.ts"
import { Plan } from "./Plan.ts"
import { ToCall } from "./room/RoomTell.ts"
import { CallAction } from "../verb/Verbs.ts"

/** What the admission of a new call found out. */
const Terms = Schema.Struct({
  /** The door derives it from a seed of its own: the actor is known by it before the first step. */
  callId: CallId,
  /** `offsetMs` of its time (src/runtime/actor/EntityTime.ts), with which a restart resumes it. */
  timeOffsetMs: Schema.Number,
  tenantId: TenantId,
  routeId: RouteId,
  adapter: Schema.String,
  /** Of the life of the carrier that the leg is given to. */
  incarnation: Schema.NullOr(Schema.String),
  microUsdPerMinute: Schema.Number,
  /** What the account reserved of the leg at its admission, in minutes. */
  reservedMinutes: Schema.Int,
  limit: Limit,
  prices: Prices,
  plan: Plan
})
export type Terms = typeof Terms.Type

const Deadline = Schema.Literals([
  "ring",
  "first_command",
  "answer",
  "limit",
  "exhausted",
  "work",
  "outcome",
  "hangup",
  "lost"
])
export type Deadline = typeof Deadline.Type

/**
 * Everything that can happen to a call: API commands, carrier events, due deadlines, `recovered`.
 *
 * What the outside knew at that moment (rates, limits, the route) is a value inside the input, so that nobody has to be
 * asked when the journal is replayed. A change of shape raises `machineVersion` and adds an upgrade in `Upgrade`.
 */
export const CallInput = Schema.Union([
  Schema.Struct({
    type: Schema.tag("place"),
    terms: Terms,
    from: Schema.String,
    to: Schema.String,
    customerReference: Schema.NullOr(Schema.String),
    timeoutSecs: Schema.Number,
    /** What its dial says besides; absent: nothing. */
    options: Schema.optionalKey(DialOptions),
    /** The seat that it is dialled for, with what the account reserved of it; absent: none. */
    seat: Schema.optionalKey(
      Schema.Struct({ conferenceId: ConferenceId, memberId: MemberId, legId: LegId, reservedMinutes: Schema.Int })
    )
  }),
  Schema.Struct({
    type: Schema.tag("offered"),
    terms: Terms,
    legId: LegId,
    from: Schema.String,
    to: Schema.String,
    resume: Schema.Json,
    /** The headers of the caller's own; absent: none. */
    headers: Schema.optionalKey(Schema.Array(CustomHeader))
  }),
  Schema.Struct({
    type: Schema.tag("action"),
    action: CallAction,
    /** What the account reserved for it, in minutes of each meter. Without it the action needs no money. */
    reservedMinutes: Schema.optionalKey(Schema.Array(Schema.Int)),
    /** With which the leg of a `transfer` is dialled. */
    transfer: Schema.optionalKey(
      Schema.Struct({
        legId: LegId,
        from: Schema.String,
        incarnation: Schema.NullOr(Schema.String),
        microUsdPerMinute: Schema.Number,
        limit: Limit,
        /** The name of the calling number; absent: it has none. */
        callerIdName: Schema.optionalKey(Schema.String)
      })
    ),
    /** The call of the leg that a `bridge` names. */
    peerCallId: Schema.optionalKey(CallId)
  }),
  Schema.Struct({ type: Schema.tag("carrier"), event: CarrierEvent }),
  Schema.Struct({ type: Schema.tag("deadline"), deadline: Deadline }),
  /**
   * A conference tells something. `reservedMinutes`: what the account reserved for it, in minutes of each meter; absent:
   * it needs no money; null: the account refused.
   */
  Schema.Struct({
    type: Schema.tag("told"),
    tell: ToCall,
    reservedMinutes: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Int)))
  }),
  /**
   * The account was asked to reserve what comes next, and reserved so many minutes of each meter. Null: it refused, or
   * did not answer.
   */
  Schema.Struct({ type: Schema.tag("renewal"), reservedMinutes: Schema.NullOr(Schema.Array(Schema.Int)) }),
  /**
   * The call was rebuilt, or its carrier is back. `snapshot` is what the carrier says of the legs of the call, null
   * when it cannot be asked. `lostAt` is the last sign of life of what told of the legs: where they are gone, they
   * ended then.
   */
  Schema.Struct({
    type: Schema.tag("recovered"),
    snapshot: Schema.NullOr(Snapshot),
    lostAt: Schema.Number
  }),
  /** The call cannot be kept alive (overflow, too many restarts). */
  Schema.Struct({ type: Schema.tag("faulted"), reason: Schema.String }),
  /** The service or the operator ends it (drain, suspension, a hang-up). */
  Schema.Struct({
    type: Schema.tag("ended_by_system"),
    reason: Schema.Literals(["carrier_error", "tenant_suspended", "hung_up"]),
    rejectCause: RejectCause,
    /** For the audit log; without it the service itself. */
    by: Schema.optionalKey(Schema.Literal("operator"))
  })
])
export type CallInput = typeof CallInput.Type
