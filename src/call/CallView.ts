import { Schema } from "effect"
import { CallId, LegId, RouteId } from "../domain/Id.ts"
import * as Timestamp from "../domain/Timestamp.ts"
import type { CallRow } from "./CallList.ts"
import { CallStatus, type CallState, durationSeconds, type Leg } from "./CallState.ts"

/**
 * A call as the API shows it, guide/calls.md#the-call. `legs` and `recordings` are full on retrieve and in the replies
 * of actions, empty on list rows.
 */
const OrNull = Schema.NullOr
const TimestampText = Schema.String.annotate({ format: "date-time", description: "UTC, milliseconds" })
const Direction = Schema.Literals(["inbound", "outbound"])

export const CallLeg = Schema.Struct({
  id: LegId,
  call_id: CallId,
  role: Schema.Literals(["primary", "transfer"]),
  direction: Direction,
  from: Schema.String,
  to: Schema.String,
  status: CallStatus,
  bridged_leg_id: OrNull(LegId),
  conference_id: OrNull(Schema.String),
  initiated_at: TimestampText,
  answered_at: OrNull(TimestampText),
  ended_at: OrNull(TimestampText),
  duration_seconds: Schema.Int,
  end_reason: OrNull(Schema.String),
  end_initiator: OrNull(Schema.String)
}).annotate({ identifier: "CallLeg" })

export const Call = Schema.Struct({
  id: CallId,
  direction: Direction,
  status: CallStatus,
  from: Schema.String,
  to: Schema.String,
  route_id: RouteId,
  initiated_at: TimestampText,
  answered_at: OrNull(TimestampText),
  ended_at: OrNull(TimestampText),
  duration_seconds: Schema.Int,
  end_reason: OrNull(Schema.String),
  end_initiator: OrNull(Schema.String),
  customer_reference: OrNull(Schema.String),
  cost_cents: OrNull(Schema.Int),
  rating_status: Schema.Literals(["pending", "rated", "failed"]),
  legs: Schema.Array(CallLeg),
  recordings: Schema.Array(Schema.Unknown).annotate({ description: "Recordings; none yet" })
}).annotate({ identifier: "Call" })
export type Call = typeof Call.Encoded

const legOf = (state: CallState, leg: Leg): typeof CallLeg.Encoded => ({
  id: leg.id,
  call_id: state.id,
  role: leg.role,
  direction: leg.direction,
  from: leg.from,
  to: leg.to,
  status: leg.status,
  bridged_leg_id: null,
  conference_id: null,
  initiated_at: Timestamp.format(leg.initiatedAt),
  answered_at: Timestamp.formatOrNull(leg.answeredAt),
  ended_at: Timestamp.formatOrNull(leg.endedAt),
  duration_seconds: durationSeconds(leg.answeredAt, leg.endedAt),
  end_reason: leg.endReason,
  end_initiator: leg.endInitiator
})

export const ofState = (state: CallState): Call => ({
  id: state.id,
  direction: state.direction,
  status: state.status,
  from: state.from,
  to: state.to,
  route_id: state.routeId,
  initiated_at: Timestamp.format(state.initiatedAt),
  answered_at: Timestamp.formatOrNull(state.answeredAt),
  ended_at: Timestamp.formatOrNull(state.endedAt),
  duration_seconds: durationSeconds(state.answeredAt, state.endedAt),
  end_reason: state.endReason,
  end_initiator: state.endInitiator,
  customer_reference: state.customerReference,
  cost_cents: state.costCents,
  rating_status: state.ratingStatus,
  legs: state.legs.map((leg) => legOf(state, leg)),
  recordings: []
})

/** A list row. */
export const ofRow = (row: CallRow): Call => ({
  id: row.id,
  direction: row.direction,
  status: row.status,
  from: row.fromNumber,
  to: row.toNumber,
  route_id: row.routeId,
  initiated_at: Timestamp.format(row.initiatedAt),
  answered_at: Timestamp.formatOrNull(row.answeredAt),
  ended_at: Timestamp.formatOrNull(row.endedAt),
  duration_seconds: row.durationSeconds,
  end_reason: row.endReason,
  end_initiator: row.endInitiator,
  customer_reference: row.customerReference,
  cost_cents: row.costCents,
  rating_status: row.ratingStatus,
  legs: [],
  recordings: []
})

/** The exact bytes of a response. */
export const encode = (state: CallState): string => JSON.stringify(ofState(state))
