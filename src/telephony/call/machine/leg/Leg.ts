import { Schema } from "effect"
import { LegQuality, PeerReason } from "../../../../carrier/CarrierEvent.ts"
import * as EndWhy from "../../../../domain/EndWhy.ts"
import { CallId, CommandId, LegId } from "../../../../domain/Id.ts"

/**
 * A leg of a call, guide/calls.md#legs. The first one is the call's own (`primary`), and exists from the first state
 * on; each `transfer` adds one.
 */
const OrNull = Schema.NullOr

/** The range of times that a date can represent, because a bill with any other would be nonsense. */
export const Millis = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 8.64e15 }))

export const CallStatus = Schema.Literals(["initiated", "ringing", "answered", "bridged", "ended", "failed"])
export type CallStatus = typeof CallStatus.Type

/**
 * When this service ends an answered leg, and why: guide/money.md#the-longest-a-call-can-last. Before there were
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
  /** The finer cause of its end; absent: it has not ended, or none was recorded. */
  endWhy: Schema.optionalKey(EndWhy.Code),
  /** How many seconds it may ring; null: without limit (an inbound leg waits for its first command). */
  ringSecs: OrNull(Schema.Number),
  limit: Limit,
  /** The leg that it is bridged with, of the call `callId`; null: none. */
  bridge: OrNull(Schema.Struct({ legId: LegId, callId: CallId, since: Millis })),
  /** Details of its end from the carrier; null: it has not ended, or there are none. */
  sipStatus: OrNull(Schema.Number),
  peerReason: OrNull(PeerReason),
  quality: OrNull(LegQuality),
  /** The adapter's opaque value, by which it finds this leg again (src/telephony/README.md#recovery). */
  resume: Schema.Json,
  /** The command that dialled it; null for an inbound leg. */
  dialId: OrNull(CommandId),
  /** The carrier has reported its end, so nothing is left there. */
  gone: Schema.Boolean,
  /** The carrier incarnation that got the leg, or that last reported on it; null: it had no name. */
  incarnation: OrNull(Schema.String),
  /** The number of its last event in this incarnation. */
  heard: Schema.Int,
  /** Its carrier cannot be asked since `since`; the last sign of its life was `at`. */
  lost: OrNull(Schema.Struct({ at: Millis, since: Millis }))
})
export type Leg = typeof Leg.Type

/** The call has not ended the leg. After its end, its carrier may still have to take it down. */
export const lives = (leg: Leg): boolean => leg.endedAt === null

/** A leg at its beginning. */
export const started = (
  fields: Pick<Leg, "id" | "role" | "direction" | "from" | "to" | "ringSecs" | "limit" | "dialId" | "incarnation"> & {
    readonly resume?: Leg["resume"]
  },
  at: number
): Leg => ({
  status: "initiated",
  initiatedAt: at,
  answeredAt: null,
  endedAt: null,
  endReason: null,
  endInitiator: null,
  bridge: null,
  sipStatus: null,
  peerReason: null,
  quality: null,
  resume: null,
  gone: false,
  heard: 0,
  lost: null,
  ...fields
})
