import { Schema } from "effect"
import type { Prices } from "../../../domain/WorkPrice.ts"
import { LegId, MemberId, WorkId } from "../../../domain/Id.ts"
import * as Money from "../../../domain/Money.ts"
import type { MoneyRow } from "../../../runtime/store/journal/Journal.ts"

/**
 * What a call is charged by: one meter for each thing that costs by the minute, with the rate that the call was
 * admitted with. A meter runs from its start to its end, and each started minute counts, as far as it was reserved.
 *
 * A new kind is a row of `kinds`: whoever starts and ends such a meter gets its reservation, its renewals and its entry
 * in the ledger from here and from `Reservation`.
 */
const kinds = {
  /** The minutes of an answered leg. */
  leg: "call_charge",
  recording: "recording_charge",
  transcription: "transcription_charge",
  /** One check is one minute. */
  machine_detection: "amd_charge",
  /** The minutes of a member of a conference: a meter for each stay. */
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
  /** Started minutes that the account has reserved, from the start on. */
  reservedMinutes: Schema.Int,
  /** Epoch milliseconds; null: it has not started, and costs nothing. */
  startedAt: Schema.NullOr(Schema.Number),
  endedAt: Schema.NullOr(Schema.Number),
  /** It has stood still since then; when it goes on, its start moves by as much, so that a pause costs nothing. */
  pausedAt: Schema.NullOr(Schema.Number)
})
export type Meter = typeof Meter.Type
export type Meters = ReadonlyArray<Meter>

export const minuteMs = 60_000

/** The meter of a leg, before its answer. */
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

/** The meter of a stay in a conference, before the leg is in. */
export const ofStay = (
  memberId: MemberId,
  leg: { readonly id: LegId; readonly direction: Meter["direction"] },
  microUsdPerMinute: number,
  reservedMinutes: number
): Meter => ({ ...ofWork("conference", leg, microUsdPerMinute, reservedMinutes), workId: memberId })

/** Most meters of one call; what costs and would be one more is refused. */
export const most = 128

/**
 * The work began: it takes the meter that was kept for its kind, or gets one of its own, with so many minutes reserved.
 * `perItem`: it has cost its one minute already.
 */
export const begun = (
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

/** What has a meter of its own begins. */
export const workBegan = (meters: Meters, workId: WorkId | MemberId, at: number): Meters =>
  meters.map((meter) =>
    meter.workId === workId && meter.startedAt === null && meter.endedAt === null ? { ...meter, startedAt: at } : meter
  )

/** The work is over, as far as it costs. */
export const workEnded = (meters: Meters, workId: WorkId | MemberId, at: number): Meters =>
  meters.some((meter) => meter.workId === workId && meter.endedAt === null)
    ? meters.map((meter) =>
        meter.workId === workId && meter.endedAt === null
          ? { ...meter, endedAt: Math.max(meter.pausedAt ?? at, meter.startedAt ?? at) }
          : meter
      )
    : meters

/** The work came to nothing, and so cost nothing. */
export const voided = (meters: Meters, workId: WorkId): Meters =>
  meters.some((meter) => meter.workId === workId && meter.startedAt !== null)
    ? meters.map((meter) => (meter.workId === workId ? { ...meter, endedAt: meter.startedAt, pausedAt: null } : meter))
    : meters

/** The work costs nothing from now on, or goes on to cost. */
export const paused = (meters: Meters, workId: WorkId, isPaused: boolean, at: number): Meters =>
  meters.map((meter) => {
    const { endedAt, pausedAt, startedAt } = meter
    if (meter.workId !== workId || endedAt !== null || startedAt === null || isPaused === (pausedAt !== null))
      return meter
    return pausedAt === null
      ? { ...meter, pausedAt: Math.max(at, startedAt) }
      : { ...meter, pausedAt: null, startedAt: startedAt + Math.max(0, at - pausedAt) }
  })

/** The leg was answered. */
export const answered = (meters: Meters, legId: LegId, at: number): Meters =>
  meters.map((meter) =>
    meter.kind === "leg" && meter.legId === legId && meter.startedAt === null ? { ...meter, startedAt: at } : meter
  )

/** The leg is over, answered or not. */
export const legEnded = (meters: Meters, legId: LegId, at: number): Meters =>
  meters.map((meter) =>
    meter.kind === "leg" && meter.legId === legId && meter.endedAt === null
      ? { ...meter, endedAt: Math.max(at, meter.startedAt ?? at) }
      : meter
  )

/** Ends every meter that runs. A meter that ended before keeps its end; one that never started has none. */
export const ended = (meters: Meters, at: number): Meters =>
  meters.map((meter) =>
    meter.startedAt === null || meter.endedAt !== null
      ? meter
      : { ...meter, endedAt: Math.max(meter.pausedAt ?? at, meter.startedAt) }
  )

/** It costs something, and the more the longer it lasts. */
export const isPriced = ({ microUsdPerMinute }: Pick<Meter, "microUsdPerMinute">): boolean => microUsdPerMinute > 0

/** The minutes that an ended meter is charged: those that were started, but none that nobody had reserved. */
const chargedMinutes = ({ endedAt, reservedMinutes, startedAt }: Meter): number =>
  startedAt === null || endedAt === null
    ? 0
    : Math.min(Money.startedMinutes(endedAt - startedAt), Math.max(0, reservedMinutes))

/** The started minutes of the ended meters of a kind: as they are charged, and all of them where they are free. */
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

/** The minutes that ended meters of one type are charged, each with its price. */
export const charged = (
  meters: Meters,
  type: MoneyRow["type"]
): ReadonlyArray<{ readonly quantity: number; readonly microUsd: number }> =>
  meters
    .filter(({ kind }) => kinds[kind] === type)
    .map((meter) => ({ quantity: chargedMinutes(meter), microUsd: meter.microUsdPerMinute }))

/**
 * What the meters come to when each counts `minutesOf` it: one charge for each type of entry, in the order of `kinds`,
 * rounded up once. Free ones are left out.
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

/** What the ended meters cost. */
export const charges = (meters: Meters): ReadonlyArray<Charge> => chargesOf(meters, chargedMinutes)

const total = (all: ReadonlyArray<Charge>): number => all.reduce((sum, { cents }) => sum + cents, 0)

/** What the ended meters cost together. */
export const chargeCents = (meters: Meters): number => total(charges(meters))

/** What the call itself is said to cost: the minutes of its legs. */
export const costCents = (meters: Meters): number => total(charges(meters).filter(({ type }) => type === "call_charge"))

/** What the meters cost at most when each may run for `minutesOf` it. An ended one costs what it came to. */
export const mostCents = (meters: Meters, minutesOf: (meter: Meter, index: number) => number): number =>
  total(chargesOf(meters, (meter, index) => (meter.endedAt === null ? minutesOf(meter, index) : chargedMinutes(meter))))
