import { Schema } from "effect"
import * as EndWhy from "../../../domain/EndWhy.ts"
import { Increments } from "../../../domain/price/Increments.ts"
import { Prices } from "../../../domain/WorkPrice.ts"
import { RejectCause } from "../../../carrier/CarrierCommand.ts"
import { CarrierEvent } from "../../../carrier/CarrierEvent.ts"
import { settings } from "../../../ports/media/MemberChange.ts"
import { CallerFacts } from "../../../carrier/number/CallIdentity.ts"
import { Snapshot } from "../../../carrier/Snapshot.ts"
import { CallId, ConferenceId, LegId, MemberId, RouteId, TenantId } from "../../../domain/Id.ts"
import { CustomHeader } from "../../../domain/CustomHeader.ts"
import { Limit } from "./leg/Leg.ts"
import { DialOptions } from "./leg/Pending.ts"
import { CallSetup } from "./CallSetup.ts"
import { ToCall } from "./room/RoomTell.ts"
import { CallAction } from "../verb/CallVerbs.ts"

/** The results of the admission of a new call. */
const Terms = Schema.Struct({
  /** Derived from a seed of its own, because the actor is known by it before the first step. */
  callId: CallId,
  /** The `offsetMs` of its time (src/runtime/actor/EntityTime.ts), from which a restart resumes it. */
  timeOffsetMs: Schema.Number,
  tenantId: TenantId,
  routeId: RouteId,
  adapter: Schema.String,
  /** The incarnation of the carrier that gets the leg. */
  incarnation: Schema.NullOr(Schema.String),
  microUsdPerMinute: Schema.Number,
  /** How the time of the leg is counted; absent: by the minute. */
  increments: Schema.optionalKey(Increments),
  /** The minutes of the leg that the account reserved at admission, in its increments. */
  reservedMinutes: Schema.Int,
  limit: Limit,
  prices: Prices,
  plan: CallSetup,
  /** `CallState.rules` of a call from an earlier version. */
  rules: Schema.optionalKey(Schema.Literal(5))
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
  "lost",
  "announce"
])
export type Deadline = typeof Deadline.Type

/**
 * Everything that can happen to a call: API commands, carrier events, due deadlines, `recovered`.
 *
 * Facts from outside (rates, limits, the route) are values inside the input, so that a replay of the journal asks
 * nothing. A change of shape raises `machineVersion` and adds an upgrade in `Upgrade`.
 */
export const CallInput = Schema.Union([
  Schema.Struct({
    type: Schema.tag("place"),
    terms: Terms,
    from: Schema.String,
    to: Schema.String,
    customerReference: Schema.NullOr(Schema.String),
    timeoutSecs: Schema.Number,
    /** Further fields of the dial; absent: none. */
    options: Schema.optionalKey(DialOptions),
    /**
     * The membership that the call is dialled for, with the account's reservation for it; absent: none. The journal
     * has this name.
     */
    seat: Schema.optionalKey(
      Schema.Struct({
        conferenceId: ConferenceId,
        memberId: MemberId,
        legId: LegId,
        reservedMinutes: Schema.Int,
        isMuted: Schema.optionalKey(Schema.Boolean),
        isHeld: Schema.optionalKey(Schema.Boolean),
        ...settings
      })
    )
  }),
  Schema.Struct({
    type: Schema.tag("offered"),
    terms: Terms,
    legId: LegId,
    from: Schema.String,
    to: Schema.String,
    /** Absent: the input is of a version that did not report them. */
    caller: Schema.optionalKey(CallerFacts),
    resume: Schema.Json,
    /** The caller's custom headers; absent: none. */
    headers: Schema.optionalKey(Schema.Array(CustomHeader))
  }),
  Schema.Struct({
    type: Schema.tag("action"),
    action: CallAction,
    /** The increments of each meter that the account reserved for the action. Absent: it needs no money. */
    reservedMinutes: Schema.optionalKey(Schema.Array(Schema.Int)),
    /** The terms under which the leg of a `transfer` is dialled. */
    transfer: Schema.optionalKey(
      Schema.Struct({
        legId: LegId,
        from: Schema.String,
        incarnation: Schema.NullOr(Schema.String),
        microUsdPerMinute: Schema.Number,
        /** How the time of the leg is counted; absent: by the minute. */
        increments: Schema.optionalKey(Increments),
        limit: Limit,
        /** The name of the calling number; absent: it has none. */
        callerIdName: Schema.optionalKey(Schema.String)
      })
    ),
    /** The call that owns the leg of a `bridge`. */
    peerCallId: Schema.optionalKey(CallId)
  }),
  Schema.Struct({ type: Schema.tag("carrier"), event: CarrierEvent }),
  Schema.Struct({ type: Schema.tag("deadline"), deadline: Deadline }),
  /**
   * A message of a conference. `reservedMinutes`: the increments of each meter that the account reserved for it;
   * absent: it needs no money; null: the account refused.
   */
  Schema.Struct({
    type: Schema.tag("told"),
    tell: ToCall,
    reservedMinutes: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Int)))
  }),
  /** The account's answer to a renewal: the increments of each meter; null: a refusal, or no answer (`refusal`). */
  Schema.Struct({
    type: Schema.tag("renewal"),
    reservedMinutes: Schema.NullOr(Schema.Array(Schema.Int)),
    refusal: Schema.optionalKey(EndWhy.Code)
  }),
  /**
   * The call was rebuilt, or its carrier is back. `snapshot` is the carrier's view of the call's legs, null when the
   * carrier cannot be asked. `lostAt` is the last sign of life from the source of the legs' events: a leg that is gone
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
    /** The author for the audit log; absent: the service itself. */
    by: Schema.optionalKey(Schema.Literal("operator"))
  })
])
export type CallInput = typeof CallInput.Type
