import { Schema } from "effect"
import * as EndWhy from "../../../domain/EndWhy.ts"
import { Prices } from "../../../domain/WorkPrice.ts"
import { CallerFacts } from "../../../carrier/number/CallIdentity.ts"
import { CallId, MemberId, RouteId, TenantId } from "../../../domain/Id.ts"
import { CallStatus, Leg, Millis } from "./leg/Leg.ts"
import { Pending } from "./leg/Pending.ts"
import { Meter } from "./Meter.ts"
import { CallSetup } from "./CallSetup.ts"
import { CallMember } from "./room/CallMember.ts"
import type { Activity } from "../verb/ActionKind.ts"
import { table, familiesOf } from "../verb/CallVerbs.ts"

/**
 * The state of a call as the journal keeps it: plain JSON, versioned. Times are in the call's own time
 * (`runtime/actor/EntityTime`): epoch milliseconds that advance evenly, whatever happens to the wall clock.
 *
 * A new version adds an upgrade in `Upgrade`; a row that cannot be read ends its call cleanly (`UnreadableCall`).
 */
export const stateVersion = 6

const OrNull = Schema.NullOr

/** An item of any family of verbs, by the family's own schema. */
export const WorkItem = Schema.Union(familiesOf(table).map(({ schema }) => schema)) as unknown as Schema.Codec<Activity>

/** An item that outlives its leg, and the end of the wait for its outcome. */
export const Outliving = Schema.Struct({ item: WorkItem, until: Millis })

export const CallState = Schema.Struct({
  id: CallId,
  /** How far its time is ahead of its partition's, in milliseconds. */
  timeOffsetMs: Schema.Number,
  tenantId: TenantId,
  direction: Schema.Literals(["inbound", "outbound"]),
  status: CallStatus,
  from: Schema.String,
  to: Schema.String,
  /** Absent: an outbound call, or one of a version that did not report them. */
  caller: Schema.optionalKey(CallerFacts),
  routeId: RouteId,
  adapter: Schema.String,
  customerReference: OrNull(Schema.String),
  initiatedAt: Millis,
  answeredAt: OrNull(Millis),
  endedAt: OrNull(Millis),
  endReason: OrNull(Schema.String),
  endInitiator: OrNull(Schema.String),
  /** The finer cause of its end; absent: it has not ended, or the call began under `rules`. */
  endWhy: Schema.optionalKey(EndWhy.Code),
  /** Until when `call.ended` waits for the sound quality; absent: it does not wait. */
  announceBy: Schema.optionalKey(Millis),
  /**
   * The machine version under which the call began, where that one announced and explained ends otherwise; absent: it
   * began under this one. The call keeps its rules to its end, so that a replay of its journal gives what is stored.
   */
  rules: Schema.optionalKey(Schema.Literal(5)),
  /** The meters that the call is charged by, with their reservations. Meters are appended and never removed. */
  meters: Schema.Array(Meter),
  /** The prices of its work at the time of admission. */
  prices: Prices,
  plan: CallSetup,
  /** When the account refused to reserve more; null again after the next renewal. */
  renewalRefusedAt: OrNull(Millis),
  /** The reason of that refusal; absent: none, or it is not known. */
  renewalRefusal: Schema.optionalKey(EndWhy.Code),
  ratingStatus: Schema.Literals(["pending", "rated", "failed"]),
  costCents: OrNull(Schema.Number),
  legs: Schema.Array(Leg).check(Schema.isMinLength(1)),
  pending: Schema.Array(Pending),
  /** The work that runs on the legs. */
  work: Schema.Array(WorkItem),
  outliving: Schema.Array(Outliving),
  /** Its membership in a conference; null: it has none. */
  room: OrNull(CallMember),
  /**
   * The membership that its leg was released from, while the leg has no other partner: when that conference ends, the
   * call is hung up as if it were still in the room. Null: none.
   */
  letGo: OrNull(MemberId),
  /** The number of the last event. */
  sequence: Schema.Number,
  /** The number of the last message to its account. */
  told: Schema.Number,
  /** The number of inputs committed so far. */
  seq: Schema.Number,
  /** The time of the last input. */
  at: Millis
})
export type CallState = typeof CallState.Type

export const isTerminal = (state: CallState): boolean => state.status === "ended" || state.status === "failed"

/** The call's own leg, which exists from the first state on. */
export const primary = (state: CallState): Leg => {
  const [leg] = state.legs
  if (leg === undefined) throw new Error(`call ${state.id} has no leg`)
  return leg
}

/** Seconds are rounded up; 0 until answered. */
export const durationSeconds = (answeredAt: number | null, endedAt: number | null): number =>
  answeredAt === null || endedAt === null ? 0 : Math.ceil(Math.max(0, endedAt - answeredAt) / 1000)
