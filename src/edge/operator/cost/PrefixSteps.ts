import { type RateDeck } from "../../../money/billing/Billing.ts"

/**
 * One direction of a deck as steps along all numbers, so that the database finds a rate by a binary search: from each
 * point on the rate beside it holds, up to the next point.
 *
 * Numbers are put in order by their first 15 digits, each a hexadecimal digit from 1 on, and 0 where there are no more. So
 * the numbers that begin with a prefix lie in a row, from the prefix itself on.
 */
export interface Steps {
  /** In order, as text: they are beyond what a number of JavaScript holds exactly. */
  readonly points: ReadonlyArray<string>
  /** Micro-USD a minute. */
  readonly rates: ReadonlyArray<number>
}

/** No prefix says what it costs. */
export const unknown = -1

const longest = 15

/** The place of digits among all numbers. */
export const placeOf = (digits: string): bigint => {
  const shifted = digits.slice(0, longest).replaceAll(/[0-9]/g, (digit) => (Number(digit) + 1).toString(16))
  return BigInt(`0x${shifted.padEnd(longest, "0")}`)
}

/** The same in SQL. */
export const place = (digits: string): string =>
  `('x' || rpad(translate(${digits}, '0123456789', '123456789a'), ${longest}, '0'))::bit(${4 * longest})::bigint`

export const of = (rates: ReadonlyArray<RateDeck.Rate>, direction: RateDeck.Direction): Steps => {
  const inOrder = rates
    .filter((rate) => rate.direction === direction)
    .toSorted((one, other) => (one.prefix < other.prefix ? -1 : 1))
    .map(({ microUsdPerMinute, prefix }) => {
      const from = placeOf(prefix)
      return { from, until: from + 16n ** BigInt(longest - prefix.length), microUsdPerMinute }
    })
  const points: Array<bigint> = []
  const steps: Array<number> = []
  const put = (at: bigint, rate: number) => {
    // What begins where another ends goes before what holds around both.
    const index = points.at(-1) === at ? points.length - 1 : points.length
    points[index] = at
    steps[index] = rate
  }
  /** Prefixes around the place that was reached, the longest last. */
  const open: Array<(typeof inOrder)[number]> = []
  const close = ({ until }: (typeof inOrder)[number]) => put(until, open.at(-1)?.microUsdPerMinute ?? unknown)
  for (const row of inOrder) {
    while ((open.at(-1)?.until ?? Infinity) <= row.from) close(open.pop() ?? row)
    put(row.from, row.microUsdPerMinute)
    open.push(row)
  }
  for (let last = open.pop(); last !== undefined; last = open.pop()) close(last)
  return { points: points.map(String), rates: steps }
}
