import * as TimeSlices from "../../domain/time/TimeSlices.ts"
import * as Increments from "../../domain/price/Increments.ts"
import { type RateDeck } from "../billing/Billing.ts"

/**
 * One direction of a deck as steps along all numbers, so that the database finds a rate by a binary search. Each rate
 * holds from its point on, up to the next point.
 *
 * Numbers are ordered by their first 15 digits. Each digit is a hexadecimal digit from 1 on, and 0 where a number has
 * no more digits. So the numbers with a common prefix are contiguous and begin with the prefix itself.
 */
export interface Steps {
  /** In ascending order, as text, because JavaScript numbers cannot hold them exactly. */
  readonly points: ReadonlyArray<string>
  /** Micro-USD a minute. */
  readonly rates: ReadonlyArray<number>
  /** The increments of each step; all are empty in a deck in which each started minute counts. */
  readonly firsts: ReadonlyArray<number>
  readonly steps: ReadonlyArray<number>
  readonly fees: ReadonlyArray<number>
  readonly minimums: ReadonlyArray<number>
}

/** The rate of numbers that no prefix covers. */
export const unknown = -1

const longest = 15

export const placeOf = (digits: string): bigint => {
  const shifted = digits.slice(0, longest).replaceAll(/[0-9]/g, (digit) => (Number(digit) + 1).toString(16))
  return BigInt(`0x${shifted.padEnd(longest, "0")}`)
}

/** `placeOf` in SQL. */
export const place = (digits: string): string =>
  `('x' || rpad(translate(${digits}, '0123456789', '123456789a'), ${longest}, '0'))::bit(${4 * longest})::bigint`

export function* of(rates: ReadonlyArray<RateDeck.Rate>, direction: RateDeck.Direction): TimeSlices.Work<Steps> {
  const own = rates.filter((rate) => rate.direction === direction)
  const ordered = yield* TimeSlices.sorted(own, (one, other) => (one.prefix < other.prefix ? -1 : 1))
  const points: Array<bigint> = []
  const prices: Array<Increments.Price> = []
  const put = (at: bigint, price: Increments.Price) => {
    // Where one prefix ends and another begins, the rate of the new one replaces that of the prefix around both.
    const index = points.at(-1) === at ? points.length - 1 : points.length
    points[index] = at
    prices[index] = price
  }
  type Placed = Increments.Price & { readonly until: bigint }
  /** The prefixes that contain the current place, the longest last. */
  const open: Array<Placed> = []
  const close = ({ until }: Placed) => put(until, open.at(-1) ?? { microUsdPerMinute: unknown })
  for (const { prefix, ...price } of ordered) {
    const from = placeOf(prefix)
    const row = { from, until: from + 16n ** BigInt(longest - prefix.length), ...price }
    while ((open.at(-1)?.until ?? Infinity) <= from) close(open.pop() ?? row)
    put(from, row)
    open.push(row)
    yield
  }
  for (let last = open.pop(); last !== undefined; last = open.pop()) close(last)
  const all = prices.some(({ increments }) => increments !== undefined)
    ? yield* TimeSlices.mapped(prices, ({ increments = Increments.byTheMinute }) => increments)
    : []
  return {
    points: yield* TimeSlices.mapped(points, String),
    rates: yield* TimeSlices.mapped(prices, ({ microUsdPerMinute }) => microUsdPerMinute),
    firsts: all.map(({ firstSecs }) => firstSecs),
    steps: all.map(({ stepSecs }) => stepSecs),
    fees: all.map(({ connectionFeeMicroUsd }) => connectionFeeMicroUsd),
    minimums: all.map(({ minimumMicroUsd }) => minimumMicroUsd)
  }
}
