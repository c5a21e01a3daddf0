import { Schema } from "effect"
import { Prices } from "../../../domain/WorkPrice.ts"
import { CallId, MemberId, RouteId, TenantId } from "../../../domain/Id.ts"
import { CallStatus, Leg, Millis } from "./leg/Leg.ts"
import { Pending } from "./leg/Pending.ts"
import { Meter } from "./Meter.ts"
import { Plan } from "./Plan.ts"
import { Room } from "./room/Room.ts"
import type { Item } from "../verb/Family.ts"
import { built, familiesOf } from "../verb/Verbs.ts"

/**
 * The state of a call as the journal keeps it: plain JSON, versioned. Times are the call's own (`runtime/actor/EntityTime`):
 * epoch milliseconds that go on evenly, wherever the wall clock is set.
 *
 * A new version adds an upgrade in `Upgrade`; a row that cannot be read ends its call cleanly (`UnreadableCall`).
 */
export const stateVersion = 5

const OrNull = Schema.NullOr

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
  /** Its seat in a conference; null: it has none. */
  room: OrNull(Room),
  /**
   * The seat out of which its leg was let go, as the leg is with nobody since: where that conference is over, the call is
   * hung up as if it had been in the room still. Null: none.
   */
  letGo: OrNull(MemberId),
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
