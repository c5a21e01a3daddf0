import { Schema } from "effect"
import { LegId } from "../domain/Id.ts"
import * as Money from "../domain/Money.ts"

/**
 * What a call is charged by: one meter for each thing that costs by the minute, with the rate that the call was
 * admitted with. A meter runs from its start to its end, and each started minute counts.
 */
export const Meter = Schema.Struct({
  /** `leg`: the minutes of an answered leg. */
  kind: Schema.Literals(["leg"]),
  legId: LegId,
  direction: Schema.Literals(["inbound", "outbound"]),
  microUsdPerMinute: Schema.Number,
  /** Epoch milliseconds; null: it has not started, and costs nothing. */
  startedAt: Schema.NullOr(Schema.Number),
  endedAt: Schema.NullOr(Schema.Number)
})
export type Meter = typeof Meter.Type
type Meters = ReadonlyArray<Meter>

/** The meter of a leg, before its answer. */
export const ofLeg = (
  leg: { readonly id: LegId; readonly direction: Meter["direction"] },
  microUsdPerMinute: number
): Meter => ({
  kind: "leg",
  legId: leg.id,
  direction: leg.direction,
  microUsdPerMinute,
  startedAt: null,
  endedAt: null
})

/** The leg was answered. */
export const answered = (meters: Meters, legId: LegId, at: number): Meters =>
  meters.map((meter) => (meter.legId === legId && meter.startedAt === null ? { ...meter, startedAt: at } : meter))

/** Ends every meter that runs. A meter that ended before keeps its end; one that never started has none. */
export const ended = (meters: Meters, at: number): Meters =>
  meters.map((meter) => (meter.startedAt === null || meter.endedAt !== null ? meter : { ...meter, endedAt: at }))

const micro = ({ endedAt, microUsdPerMinute, startedAt }: Meter): number =>
  startedAt === null || endedAt === null ? 0 : Money.legCostMicro(endedAt - startedAt, microUsdPerMinute)

/** What the ended meters cost together, rounded up once for all of them. */
export const chargeCents = (meters: Meters): number =>
  Money.centsFromMicro(meters.reduce((sum, meter) => sum + micro(meter), 0))

/** The price of the next minute of everything that has not ended. */
export const nextMinuteCents = (meters: ReadonlyArray<Pick<Meter, "microUsdPerMinute" | "endedAt">>): number =>
  Money.centsFromMicro(meters.reduce((sum, meter) => sum + (meter.endedAt === null ? meter.microUsdPerMinute : 0), 0))
