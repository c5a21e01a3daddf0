import { Schema } from "effect"
import type { Prices } from "../../../domain/WorkPrice.ts"
import { LegId, MemberId, WorkId } from "../../../domain/Id.ts"
import * as Increments from "../../../domain/price/Increments.ts"
import * as Money from "../../../domain/Money.ts"
import type { MoneyRow } from "../../../runtime/store/journal/Journal.ts"

/**
 * The meters that a call is charged by: one for each thing that costs money by the minute, at the rate of the call's
 * admission. A meter runs from its start to its end, and each started increment counts, as far as it was reserved. An
 * increment is a minute, unless the rate of a leg names others.
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
  /** How the time of a leg is counted; absent: by the minute. */
  increments: Schema.optionalKey(Increments.Increments),
  /** The increments that the account has reserved, from the start on. Most are minutes, hence the stored name. */
  reservedMinutes: Schema.Int,
  /** Epoch milliseconds; null: it has not started, and costs nothing. */
  startedAt: Schema.NullOr(Schema.Number),
  endedAt: Schema.NullOr(Schema.Number),
  /** When it was paused; null: it runs. Its start moves by the length of each pause, so that a pause costs nothing. */
  pausedAt: Schema.NullOr(Schema.Number)
})
export type Meter = typeof Meter.Type
export type Meters = ReadonlyArray<Meter>

/** The meter of a leg that is not yet answered, with these increments reserved. */
export const ofLeg = (
  leg: { readonly id: LegId; readonly direction: Meter["direction"] },
  { increments, microUsdPerMinute }: Increments.Price,
  reservedMinutes: number
): Meter => ({
  kind: "leg",
  legId: leg.id,
  workId: null,
  direction: leg.direction,
  microUsdPerMinute,
  ...(increments === undefined ? {} : { increments }),
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
): Meter => ({ ...ofLeg(leg, { microUsdPerMinute }, reservedMinutes), kind })

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

export const isPriced = (meter: Meter): boolean => !Increments.isFree(meter)

/** When a running meter has used up what was reserved; null: further time costs nothing, or it does not run. */
export const reservedEnd = (meter: Meter): number | null =>
  meter.startedAt === null || meter.endedAt !== null || meter.pausedAt !== null || meter.microUsdPerMinute === 0
    ? null
    : meter.startedAt + Increments.secsOf(meter, meter.reservedMinutes) * 1_000

const startedIncrements = (meter: Meter): number =>
  meter.startedAt === null || meter.endedAt === null ? 0 : Increments.started(meter, meter.endedAt - meter.startedAt)

/**
 * The increments that an ended meter is charged: its started ones, up to those that were reserved. Where time costs
 * nothing, the first one is reserved for all.
 */
const chargedIncrements = (meter: Meter): number =>
  meter.microUsdPerMinute === 0 && meter.reservedMinutes > 0
    ? startedIncrements(meter)
    : Math.min(startedIncrements(meter), Math.max(0, meter.reservedMinutes))

/** The seconds that an ended meter is billed: the charged ones, or all started increments where they are free. */
const secsOf = (meter: Meter): number =>
  Increments.secsOf(meter, isPriced(meter) ? chargedIncrements(meter) : startedIncrements(meter))

const sumOf = (meters: Meters, kind: Kind, of: (meter: Meter) => number): number =>
  meters.reduce((sum, meter) => (meter.kind === kind ? sum + of(meter) : sum), 0)

/** The billed seconds of the ended meters of a kind. */
export const billedSecs = (meters: Meters, kind: Kind): number => sumOf(meters, kind, secsOf)

/** The billed minutes of the ended meters of a kind: a started one counts for each meter. */
export const minutes = (meters: Meters, kind: Kind): number =>
  sumOf(meters, kind, (meter) => Money.startedMinutes(secsOf(meter) * 1_000))

/** One entry of the ledger. */
export interface Charge {
  readonly type: MoneyRow["type"]
  readonly cents: number
}

/**
 * The billed minutes of the ended meters of one type, each with the price that is left when some of them are paid in
 * another way: that of a meter with so many fewer, and nothing when all are.
 */
export const charged = (
  meters: Meters,
  type: MoneyRow["type"]
): ReadonlyArray<{ readonly quantity: number; readonly restMicroUsd: (covered: number) => number }> =>
  meters
    .filter(({ kind }) => kinds[kind] === type)
    .map((meter) => {
      const secs = Increments.secsOf(meter, chargedIncrements(meter))
      return {
        quantity: Money.startedMinutes(secs * 1_000),
        restMicroUsd: (covered) =>
          Increments.microUsd(meter, Increments.ofSecs(meter, covered === 0 ? secs : secs - covered * 60))
      }
    })

/**
 * The charges when each meter counts so many increments: one for each type of entry, in the order of `kinds`, rounded
 * up once. Free ones are left out.
 */
const chargesOf = (meters: Meters, incrementsOf: (meter: Meter, index: number) => number): ReadonlyArray<Charge> =>
  [...new Set<MoneyRow["type"]>(Object.values(kinds))].flatMap((type) => {
    const cents = Money.centsFromMicro(
      meters.reduce(
        (sum, meter, index) =>
          sum + (kinds[meter.kind] === type ? Increments.microUsd(meter, incrementsOf(meter, index)) : 0),
        0
      )
    )
    return cents === 0 ? [] : [{ type, cents }]
  })

/** The charges of the ended meters. */
export const charges = (meters: Meters): ReadonlyArray<Charge> => chargesOf(meters, chargedIncrements)

const total = (all: ReadonlyArray<Charge>): number => all.reduce((sum, { cents }) => sum + cents, 0)

/** The sum of the charges of the ended meters. */
export const chargeCents = (meters: Meters): number => total(charges(meters))

/** The cost that the call itself shows: the minutes of its legs. */
export const costCents = (meters: Meters): number => total(charges(meters).filter(({ type }) => type === "call_charge"))

/** The highest cost when each running meter runs for so many increments. An ended one counts with its actual cost. */
export const mostCents = (meters: Meters, incrementsOf: (meter: Meter, index: number) => number): number =>
  total(
    chargesOf(meters, (meter, index) =>
      meter.endedAt === null ? incrementsOf(meter, index) : chargedIncrements(meter)
    )
  )
