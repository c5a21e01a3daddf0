import { Schema } from "effect"
import type { Prices } from "../../../domain/WorkPrice.ts"
import { LegId, MemberId, WorkId } from "../../../domain/Id.ts"
import * as Money from "../../../domain/Money.ts"
import type { MoneyRow } from "../../../runtime/store/journal/Journal.ts"

/**
 * The meters that a call is charged by: one for each thing that costs money by the minute, at the rate of the call's
 * admission. A meter runs from its start to its end, and each started minute counts, as far as it was reserved.
 *
 * A new kind is a row of `kinds`. Its feature only starts and ends the meter: reservation, renewals and the ledger
 * entry come from here and from `Reservation`.
 */
const kinds = {
  /** The minutes of an answered leg. */
  leg: "call_charge",
  recording: "recording_charge",
  transcription: "transcription_charge",
  /** Each check costs one minute. */
  machine_detection: "amd_charge",
  /** The minutes of a member of a conference: each stay has a meter. */
  conference: "conference_charge"
} as const satisfies Readonly<Record<string, MoneyRow["type"]>>

export type Kind = keyof typeof kinds

export const Meter = Schema.Struct({
  kind: Schema.Literals(Object.keys(kinds) as ReadonlyArray<Kind>),
  legId: LegId,
  /** The work or the stay that it measures; null: the leg itself. */
  workId: Schema.NullOr(Schema.Union([WorkId, MemberId])),
  direction: Schema.Literals(["inbound", "outbound"]),
  microUsdPerMinute: Schema.Number,
  /** The started minutes that the account has reserved, from the start on. */
  reservedMinutes: Schema.Int,
  /** Epoch milliseconds; null: it has not started, and costs nothing. */
  startedAt: Schema.NullOr(Schema.Number),
  endedAt: Schema.NullOr(Schema.Number),
  /** When it was paused; null: it runs. Its start moves by the length of each pause, so that a pause costs nothing. */
  pausedAt: Schema.NullOr(Schema.Number)
})
export type Meter = typeof Meter.Type
export type Meters = ReadonlyArray<Meter>

export const minuteMs = 60_000

/** The meter of a leg that is not yet answered. */
export const ofLeg = (
  leg: { readonly id: LegId; readonly direction: Meter["direction"] },
  microUsdPerMinute: number,
  reservedMinutes: number
): Meter => ({
  kind: "leg",
  legId: leg.id,
  workId: null,
  direction: leg.direction,
  microUsdPerMinute,
  reservedMinutes,
  startedAt: null,
  endedAt: null,
  pausedAt: null
})

/** The meter of work that begins, or of work that will begin by itself (`workId` and `startedAt` null). */
export const ofWork = (
  kind: keyof Prices,
  leg: { readonly id: LegId; readonly direction: Meter["direction"] },
  microUsdPerMinute: number,
  reservedMinutes: number
): Meter => ({ ...ofLeg(leg, microUsdPerMinute, reservedMinutes), kind })

/** The meter of a stay in a conference, before the leg has entered. */
export const ofStay = (
  memberId: MemberId,
  leg: { readonly id: LegId; readonly direction: Meter["direction"] },
  microUsdPerMinute: number,
  reservedMinutes: number
): Meter => ({ ...ofWork("conference", leg, microUsdPerMinute, reservedMinutes), workId: memberId })

/** The most meters of one call; work that needs a further one is refused. */
export const most = 128

/**
 * Starts the meter of work: the one that was kept for its kind, or a new one with its own reservation. `perItem`: the
 * work costs one minute, which is used up at once.
 */
export const started = (
  meters: Meters,
  meter: Meter & { readonly workId: WorkId; readonly startedAt: number },
  perItem: boolean
): Meters => {
  const { endedAt = null } = perItem ? { endedAt: meter.startedAt + 1 } : {}
  const kept = meters.findIndex(
    ({ kind, startedAt, workId }) => kind === meter.kind && workId === null && startedAt === null
  )
  return kept === -1
    ? [...meters, { ...meter, endedAt }]
    : meters.map((other, index) =>
        index === kept ? { ...other, workId: meter.workId, startedAt: meter.startedAt, endedAt } : other
      )
}

/** Starts the meter of work that already has one. */
export const workBegan = (meters: Meters, workId: WorkId | MemberId, at: number): Meters =>
  meters.map((meter) =>
    meter.workId === workId && meter.startedAt === null && meter.endedAt === null ? { ...meter, startedAt: at } : meter
  )

/** Ends the meter of work. */
export const workEnded = (meters: Meters, workId: WorkId | MemberId, at: number): Meters =>
  meters.some((meter) => meter.workId === workId && meter.endedAt === null)
    ? meters.map((meter) =>
        meter.workId === workId && meter.endedAt === null
          ? { ...meter, endedAt: Math.max(meter.pausedAt ?? at, meter.startedAt ?? at) }
          : meter
      )
    : meters

/** Ends the meter at its start, because the work came to nothing and costs nothing. */
export const voided = (meters: Meters, workId: WorkId): Meters =>
  meters.some((meter) => meter.workId === workId && meter.startedAt !== null)
    ? meters.map((meter) => (meter.workId === workId ? { ...meter, endedAt: meter.startedAt, pausedAt: null } : meter))
    : meters

/** Pauses or resumes the meter of work. */
export const paused = (meters: Meters, workId: WorkId, isPaused: boolean, at: number): Meters =>
  meters.map((meter) => {
    const { endedAt, pausedAt, startedAt } = meter
    if (meter.workId !== workId || endedAt !== null || startedAt === null || isPaused === (pausedAt !== null))
      return meter
    return pausedAt === null
      ? { ...meter, pausedAt: Math.max(at, startedAt) }
      : { ...meter, pausedAt: null, startedAt: startedAt + Math.max(0, at - pausedAt) }
  })

/** Starts the meter of a leg when it is answered. */
export const answered = (meters: Meters, legId: LegId, at: number): Meters =>
  meters.map((meter) =>
    meter.kind === "leg" && meter.legId === legId && meter.startedAt === null ? { ...meter, startedAt: at } : meter
  )

/** Ends the meter of a leg, answered or not. */
export const legEnded = (meters: Meters, legId: LegId, at: number): Meters =>
  meters.map((meter) =>
    meter.kind === "leg" && meter.legId === legId && meter.endedAt === null
      ? { ...meter, endedAt: Math.max(at, meter.startedAt ?? at) }
      : meter
  )

/** Ends every running meter. A meter that ended before keeps its end; one that never started has none. */
export const ended = (meters: Meters, at: number): Meters =>
  meters.map((meter) =>
    meter.startedAt === null || meter.endedAt !== null
      ? meter
      : { ...meter, endedAt: Math.max(meter.pausedAt ?? at, meter.startedAt) }
  )

export const isPriced = ({ microUsdPerMinute }: Pick<Meter, "microUsdPerMinute">): boolean => microUsdPerMinute > 0

/** The minutes that an ended meter is charged: its started minutes, up to those that were reserved. */
const chargedMinutes = ({ endedAt, reservedMinutes, startedAt }: Meter): number =>
  startedAt === null || endedAt === null
    ? 0
    : Math.min(Money.startedMinutes(endedAt - startedAt), Math.max(0, reservedMinutes))

/** The started minutes of the ended meters of a kind: the charged ones, or all where they are free. */
export const minutes = (meters: Meters, kind: Kind): number =>
  meters.reduce((sum, meter) => {
    if (meter.kind !== kind) return sum
    const { endedAt, startedAt } = meter
    const started = startedAt === null || endedAt === null ? 0 : Money.startedMinutes(endedAt - startedAt)
    return sum + (isPriced(meter) ? chargedMinutes(meter) : started)
  }, 0)

/** One entry of the ledger. */
export interface Charge {
  readonly type: MoneyRow["type"]
  readonly cents: number
}

/** The charged minutes of the ended meters of one type, each with its price. */
export const charged = (
  meters: Meters,
  type: MoneyRow["type"]
): ReadonlyArray<{ readonly quantity: number; readonly microUsd: number }> =>
  meters
    .filter(({ kind }) => kinds[kind] === type)
    .map((meter) => ({ quantity: chargedMinutes(meter), microUsd: meter.microUsdPerMinute }))

/**
 * The charges when each meter counts `minutesOf` it: one for each type of entry, in the order of `kinds`, rounded up
 * once. Free ones are left out.
 */
const chargesOf = (meters: Meters, minutesOf: (meter: Meter, index: number) => number): ReadonlyArray<Charge> =>
  [...new Set<MoneyRow["type"]>(Object.values(kinds))].flatMap((type) => {
    const cents = Money.centsFromMicro(
      meters.reduce(
        (sum, meter, index) =>
          sum + (kinds[meter.kind] === type ? minutesOf(meter, index) * meter.microUsdPerMinute : 0),
        0
      )
    )
    return cents === 0 ? [] : [{ type, cents }]
  })

/** The charges of the ended meters. */
export const charges = (meters: Meters): ReadonlyArray<Charge> => chargesOf(meters, chargedMinutes)

const total = (all: ReadonlyArray<Charge>): number => all.reduce((sum, { cents }) => sum + cents, 0)

/** The sum of the charges of the ended meters. */
export const chargeCents = (meters: Meters): number => total(charges(meters))

/** The cost that the call itself shows: the minutes of its legs. */
export const costCents = (meters: Meters): number => total(charges(meters).filter(({ type }) => type === "call_charge"))

/** The highest cost when each running meter may run for `minutesOf` it. An ended meter counts with its actual cost. */
export const mostCents = (meters: Meters, minutesOf: (meter: Meter, index: number) => number): number =>
  total(chargesOf(meters, (meter, index) => (meter.endedAt === null ? minutesOf(meter, index) : chargedMinutes(meter))))
