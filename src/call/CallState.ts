import { Schema } from "effect"
import { Prices } from "../domain/WorkPrice.ts"
import { RejectCause } from "../carrier/CarrierCommand.ts"
import { CallId, CommandId, LegId, RouteId, TenantId } from "../domain/Id.ts"
import { Meter } from "./Meter.ts"
import { Plan } from "./Plan.ts"
import type { Item } from "./verb/Family.ts"
import { built, familiesOf } from "./verb/Verbs.ts"

/**
 * The state of a call as the journal keeps it: plain JSON, versioned. Times are the call's own (`actor/EntityTime`):
 * epoch milliseconds that go on evenly, wherever the wall clock is set.
 *
 * A new version adds an upgrade in `Upgrade`; a row that cannot be read ends its call cleanly (`UnreadableCall`).
 */
export const stateVersion = 4

/** What a date can name; a bill of anything else would be nonsense. */
const Millis = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 8.64e15 }))
const OrNull = Schema.NullOr

export const CallStatus = Schema.Literals(["initiated", "ringing", "answered", "bridged", "ended", "failed"])
export type CallStatus = typeof CallStatus.Type

/**
 * When an answered call is ended by us, and why: guide/money.md#the-longest-a-call-can-last. Before there were
 * reservations this could be the money.
 */
export const Limit = Schema.Struct({
  afterSecs: Schema.Number,
  reason: Schema.Literals(["time_limit", "balance_exhausted"])
})
export type Limit = typeof Limit.Type

export const Leg = Schema.Struct({
  id: LegId,
  role: Schema.Literals(["primary", "transfer"]),
  direction: Schema.Literals(["inbound", "outbound"]),
  from: Schema.String,
  to: Schema.String,
  status: CallStatus,
  initiatedAt: Millis,
  answeredAt: OrNull(Millis),
  endedAt: OrNull(Millis),
  endReason: OrNull(Schema.String),
  endInitiator: OrNull(Schema.String),
  /** How many seconds it may ring; null: as long as it likes (an inbound leg waits for its first command). */
  ringSecs: OrNull(Schema.Number),
  limit: Limit,
  /** The adapter's opaque value, by which it finds this leg again (src/README.md#recovery). */
  resume: Schema.Json,
  /** The command that dialled it; null for an inbound leg. */
  dialId: OrNull(CommandId),
  /** The carrier has reported its end: nothing is left there. */
  gone: Schema.Boolean,
  /** The life of the carrier that the leg was given to, or was last heard of in; null: that life had no name. */
  incarnation: OrNull(Schema.String),
  /** The number of the last event that was heard of it in this incarnation. */
  heard: Schema.Int,
  /** Its carrier cannot be asked since `since`; the last sign of its life was `at`. */
  lost: OrNull(Schema.Struct({ at: Millis, since: Millis }))
})
export type Leg = typeof Leg.Type

/**
 * A command of call control that went down and whose outcome has not come back
 * (src/README.md#commands-are-part-of-the-state).
 */
export const Pending = Schema.Union([
  Schema.Struct({ type: Schema.Literal("dial"), commandId: CommandId, legId: LegId }),
  Schema.Struct({ type: Schema.Literal("answer"), commandId: CommandId, legId: LegId, since: Millis }),
  Schema.Struct({
    type: Schema.Literal("hangup"),
    commandId: CommandId,
    legId: LegId,
    since: Millis,
    /** The reason for which an unanswered inbound leg is refused; null: a plain hang-up. */
    rejectCause: OrNull(RejectCause)
  })
])
export type Pending = typeof Pending.Type

/** An item of any family of verbs, as the families themselves describe theirs. */
export const WorkItem = Schema.Union(familiesOf(built).map(({ schema }) => schema)) as unknown as Schema.Codec<Item>

/** An item that outlives its leg, and until when it waits for its outcome. */
export const Outliving = Schema.Struct({ item: WorkItem, until: Millis })

export const CallState = Schema.Struct({
  id: CallId,
  /** How far its time is ahead of its partition's. */
  timeOffsetMs: Schema.Number,
  tenantId: TenantId,
  direction: Schema.Literals(["inbound", "outbound"]),
  status: CallStatus,
  from: Schema.String,
  to: Schema.String,
  routeId: RouteId,
  adapter: Schema.String,
  customerReference: OrNull(Schema.String),
  initiatedAt: Millis,
  answeredAt: OrNull(Millis),
  endedAt: OrNull(Millis),
  endReason: OrNull(Schema.String),
  endInitiator: OrNull(Schema.String),
  /** What the call is charged by, and what of it is reserved. Meters are added behind, and never removed. */
  meters: Schema.Array(Meter),
  /** What its work costs, as it was when the call was admitted. */
  prices: Prices,
  plan: Plan,
  /** When the account refused to reserve more, and nothing has been renewed since. */
  renewalRefusedAt: OrNull(Millis),
  ratingStatus: Schema.Literals(["pending", "rated", "failed"]),
  costCents: OrNull(Schema.Number),
  legs: Schema.Array(Leg).check(Schema.isMinLength(1)),
  pending: Schema.Array(Pending),
  /** The work that goes on on the legs. */
  work: Schema.Array(WorkItem),
  outliving: Schema.Array(Outliving),
  /** The last event's number. */
  sequence: Schema.Number,
  /** The number of the last tell to its account. */
  told: Schema.Number,
  /** Inputs committed so far. */
  seq: Schema.Number,
  /** Time of the last input. */
  at: Millis
})
export type CallState = typeof CallState.Type

export const isTerminal = (state: CallState): boolean => state.status === "ended" || state.status === "failed"

/** The call's own leg: it exists from the first state on. */
export const primary = (state: CallState): Leg => {
  const [leg] = state.legs
  if (leg === undefined) throw new Error(`call ${state.id} has no leg`)
  return leg
}

/** A started second counts; 0 until answered. */
export const durationSeconds = (answeredAt: number | null, endedAt: number | null): number =>
  answeredAt === null || endedAt === null ? 0 : Math.ceil(Math.max(0, endedAt - answeredAt) / 1000)
