/**
 * The rate deck, guide/money.md#rates: the longest prefix of the called number → micro-USD a minute, for each
 * direction.
 */
export type Direction = "outbound" | "inbound"

export interface Rate {
  readonly direction: Direction
  /** Digits that the number begins with, without `+`; empty: every number. */
  readonly prefix: string
  readonly microUsdPerMinute: number
}

/** What a direction costs in an empty deck. */
export const defaults: Readonly<Record<Direction, number>> = { outbound: 10_000, inbound: 0 }

export interface RateDeck {
  /** What the longest prefix of the number says; null: no row names it. */
  readonly named: (direction: Direction, number: string) => number | null
  /**
   * `number`: E.164, the called one. Null: the deck names no price, so nobody may be called there. An inbound minute
   * without a price is free.
   */
  readonly rate: (direction: Direction, number: string) => number | null
}

export const make = (rates: Iterable<Rate>): RateDeck => {
  const deck = { outbound: new Map<string, number>(), inbound: new Map<string, number>() }
  for (const rate of rates) deck[rate.direction].set(rate.prefix, rate.microUsdPerMinute)
  const isEmpty = deck.outbound.size + deck.inbound.size === 0
  const named = (direction: Direction, number: string): number | null => {
    const digits = number.replace(/^\+/, "")
    for (let length = digits.length; length >= 0; length--) {
      const found = deck[direction].get(digits.slice(0, length))
      if (found !== undefined) return found
    }
    return null
  }
  return {
    named,
    rate: (direction, number) =>
      named(direction, number) ?? (direction === "outbound" && !isEmpty ? null : defaults[direction])
  }
}

/** 100 dollars a minute. A higher rate is a mistyped unit. */
export const maxMicroUsdPerMinute = 100_000_000

/** What is wrong with a deck, or null. */
export const fault = (rates: ReadonlyArray<Rate>): string | null => {
  const seen = new Set<string>()
  for (const { direction, microUsdPerMinute, prefix } of rates) {
    const name = `${direction} "${prefix}"`
    if (!/^[0-9]{0,15}$/.test(prefix)) return `the prefix of ${name} must be up to 15 digits`
    if (!Number.isInteger(microUsdPerMinute) || microUsdPerMinute < 0 || microUsdPerMinute > maxMicroUsdPerMinute)
      return `the rate of ${name} must be a whole number of micro-USD a minute, at most ${maxMicroUsdPerMinute}`
    if (seen.has(name)) return `${name} appears twice`
    seen.add(name)
  }
  return null
}

/** So many changed rows stand in the line of the audit log; their number stands there always. */
const shownChanges = 100

/** A row that one deck has otherwise than another; null: it has no such row. */
export interface Difference {
  readonly direction: Direction
  readonly prefix: string
  readonly from: number | null
  readonly to: number | null
}

/** What `after` has otherwise than `before`: those of `before` in their order, then what is new. */
export const difference = (before: ReadonlyArray<Rate>, after: ReadonlyArray<Rate>): ReadonlyArray<Difference> => {
  const named = (rates: ReadonlyArray<Rate>) => new Map(rates.map((rate) => [`${rate.direction} ${rate.prefix}`, rate]))
  const [from, to] = [named(before), named(after)]
  return [...new Map([...from, ...to]).entries()]
    .map(([name, { direction, prefix }]) => ({
      direction,
      prefix,
      from: from.get(name)?.microUsdPerMinute ?? null,
      to: to.get(name)?.microUsdPerMinute ?? null
    }))
    .filter((row) => row.from !== row.to)
}

/** What one deck changes of another, for the audit log; null: no such row. */
export const changes = (
  before: ReadonlyArray<Rate>,
  after: ReadonlyArray<Rate>
): ReadonlyArray<{ readonly field: string; readonly from: number | null; readonly to: number | null }> => {
  const changed = difference(before, after)
  return [
    { field: "rows", from: before.length, to: after.length },
    { field: "changed_rows", from: null, to: changed.length },
    ...changed
      .slice(0, shownChanges)
      .map(({ direction, from, prefix, to }) => ({ field: `${direction} ${prefix}`, from, to }))
  ]
}
