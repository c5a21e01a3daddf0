import { Schema } from "effect"

/**
 * How the time of an answered leg is counted, and what it costs beside its time, guide/money.md#increments. The first
 * seconds count as a whole, and so does each further step. A connection fee is added once, and the leg costs at least
 * the minimum. All amounts are whole micro-USD.
 */
export const Increments = Schema.Struct({
  firstSecs: Schema.Int,
  stepSecs: Schema.Int,
  connectionFeeMicroUsd: Schema.Int,
  minimumMicroUsd: Schema.Int
})
export type Increments = typeof Increments.Type

/** Each started minute counts. It holds wherever no other increments are named. */
export const byTheMinute: Increments = { firstSecs: 60, stepSecs: 60, connectionFeeMicroUsd: 0, minimumMicroUsd: 0 }

/** Whether they say nothing else than that each started minute counts. */
export const areMinutes = (increments: Increments): boolean =>
  Object.entries(byTheMinute).every(([name, value]) => increments[name as keyof Increments] === value)

/** A longer increment has a mistyped unit. */
export const mostSecs = 3_600

/** The price of time: micro-USD for 60 seconds. Absent increments are minutes. */
export interface Price {
  readonly microUsdPerMinute: number
  readonly increments?: Increments
}

const of = ({ increments = byTheMinute }: Price): Increments => increments

/** Whole-number division, rounded up. It is exact for all whole numbers below 2^53. */
export const dividedUp = (amount: number, by: number): number => {
  const rest = amount % by
  return (amount - rest) / by + (rest > 0 ? 1 : 0)
}

/** The fewest increments that last `secs`. */
export const ofSecs = (price: Price, secs: number): number => {
  const { firstSecs, stepSecs } = of(price)
  return secs <= 0 ? 0 : 1 + dividedUp(Math.max(0, secs - firstSecs), stepSecs)
}

/** The started increments of `ms`. A started second counts as a second. */
export const started = (price: Price, ms: number): number => ofSecs(price, Math.ceil(ms / 1_000))

/** The seconds of so many increments, which are billed. */
export const secsOf = (price: Price, count: number): number => {
  const { firstSecs, stepSecs } = of(price)
  return count <= 0 ? 0 : firstSecs + (count - 1) * stepSecs
}

/** The price of so many increments in micro-USD, rounded up once. No increment costs nothing. */
export const microUsd = (price: Price, count: number): number => {
  const { connectionFeeMicroUsd, minimumMicroUsd } = of(price)
  return count <= 0
    ? 0
    : Math.max(minimumMicroUsd, connectionFeeMicroUsd + dividedUp(price.microUsdPerMinute * secsOf(price, count), 60))
}

/** The increments that are reserved for `minutes`: those that cover them, or more where the minimum pays for more. */
export const ofMinutes = (price: Price, minutes: number): number =>
  minutes <= 0 ? 0 : Math.max(ofSecs(price, minutes * 60), paidByMinimum(price))

const paidByMinimum = (price: Price): number => {
  const { connectionFeeMicroUsd, firstSecs, minimumMicroUsd, stepSecs } = of(price)
  const left = minimumMicroUsd - connectionFeeMicroUsd
  if (price.microUsdPerMinute === 0 || left <= 0) return 0
  const secs = Math.floor((left * 60) / price.microUsdPerMinute)
  return secs < firstSecs ? 0 : 1 + Math.floor((secs - firstSecs) / stepSecs)
}

export const isFree = (price: Price): boolean => microUsd(price, 1) === 0

/** Returns the fault of increments; null when there is none. `most` bounds the amounts. */
export const fault = (
  { connectionFeeMicroUsd, firstSecs, minimumMicroUsd, stepSecs }: Increments,
  most: number
): string | null => {
  const isWithin = (value: number, from: number, to: number) => Number.isInteger(value) && value >= from && value <= to
  if (!isWithin(firstSecs, 1, mostSecs) || !isWithin(stepSecs, 1, mostSecs))
    return `first and step must be whole seconds from 1 to ${mostSecs}`
  if (!isWithin(connectionFeeMicroUsd, 0, most) || !isWithin(minimumMicroUsd, 0, most))
    return `connection fee and minimum must be whole numbers of micro-USD, at most ${most}`
  return null
}

/** The increments of a price as people read them: `30/6`, `60/60 fee 500`, `1/1 fee 500 minimum 1000`. */
export const named = (price: Price): string => {
  const { connectionFeeMicroUsd, firstSecs, minimumMicroUsd, stepSecs } = of(price)
  const fee = connectionFeeMicroUsd === 0 ? "" : ` fee ${connectionFeeMicroUsd}`
  return `${firstSecs}/${stepSecs}${fee}${minimumMicroUsd === 0 ? "" : ` minimum ${minimumMicroUsd}`}`
}

/** A price in one cell: the rate alone where minutes count, else as `9000 30/6 fee 500 minimum 1000`. */
export const spelled = (price: Price): number | string =>
  areMinutes(of(price)) ? price.microUsdPerMinute : `${price.microUsdPerMinute} ${named(price)}`
