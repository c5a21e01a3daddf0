import { Schema } from "effect"
import * as Field from "../domain/Field.ts"
import * as Id from "../domain/Id.ts"
import * as Timestamp from "../domain/Timestamp.ts"
import type { CallRow } from "./CallList.ts"
import { CallStatus, type CallState, durationSeconds, type Leg } from "./CallState.ts"

const direction = Field.oneOf("As this service sees it.", ["outbound", "inbound"])
const initiatedAt = Field.moment("When it began.")
const answeredAt = Field.momentOrNull("Null until then.")
const endedAt = Field.momentOrNull("Null until then.")
const duration = Field.seconds("Answered seconds; 0 until answered.")
const status = CallStatus.annotate({
  description: "`ended` and `failed` are terminal.",
  examples: ["initiated"]
})
const endReason = Field.textOrNull("Why it ended; null until then. Further values may come.", null)
const endInitiator = Field.textOrNull("Who ended it; null until then.", null)

const CallLeg = Schema.Struct({
  id: Field.legId("The leg."),
  call_id: Field.callId("The call that it belongs to."),
  role: Field.oneOf("`primary`: the leg that the call was created with.", ["primary", "transfer"]),
  direction,
  from: Field.text("The calling number, E.164.", "+12025550150"),
  to: Field.text("The called number, E.164, or a SIP URI.", "+12025550100"),
  status,
  bridged_leg_id: Schema.NullOr(Id.spelled("leg")).annotate({
    description: "The leg at the other end of a bridge; null: none.",
    examples: [null]
  }),
  conference_id: Field.textOrNull("The conference that it is in; null: none.", null),
  initiated_at: initiatedAt,
  answered_at: answeredAt,
  ended_at: endedAt,
  duration_seconds: duration,
  end_reason: endReason,
  end_initiator: endInitiator
}).annotate({ identifier: "CallLeg" })

/**
 * A call as the API shows it, guide/calls.md#the-call. `legs` and `recordings` are full on retrieve and in the replies
 * of actions, empty on list rows.
 */
export const Call = Schema.Struct({
  id: Field.callId(),
  direction,
  status,
  from: Field.text("The calling number, E.164.", "+12025550150"),
  to: Field.text("The called number, E.164.", "+12025550100"),
  route_id: Field.routeId,
  initiated_at: initiatedAt,
  answered_at: answeredAt,
  ended_at: endedAt,
  duration_seconds: duration,
  end_reason: endReason,
  end_initiator: endInitiator,
  customer_reference: Field.customerReference,
  cost_cents: Field.centsOrNull("What the call cost; null until it is rated."),
  rating_status: Field.oneOf("`pending` until a few seconds after the end.", ["pending", "rated", "failed"]),
  legs: Schema.Array(CallLeg).annotate({ description: "Its legs; empty on list rows." }),
  recordings: Schema.Array(Schema.Unknown).annotate({
    description: "Its recordings; none yet.",
    examples: [[]]
  })
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
