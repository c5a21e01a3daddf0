/** The rate deck, guide/money.md#rates: longest prefix of the called number → micro-USD a minute, by direction. */
export type Direction = "outbound" | "inbound"

export interface Rate {
  readonly direction: Direction
  /** The first digits of the number, without `+`. The empty prefix matches every number. */
  readonly prefix: string
  readonly microUsdPerMinute: number
}

/** The price of each direction in an empty deck. */
export const defaults: Readonly<Record<Direction, number>> = { outbound: 10_000, inbound: 0 }

export interface RateDeck {
  /** The price of the longest prefix of the number; null when no row matches it. */
  readonly named: (direction: Direction, number: string) => number | null
  /**
   * `number` is E.164, the called one. Null: the deck names no price, so calls there are not allowed. An inbound minute
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

/** 100 dollars a minute. A higher rate has a mistyped unit. */
export const maxMicroUsdPerMinute = 100_000_000

/** Returns the fault of a deck; null when there is none. */
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

/** The line in the audit log lists at most this many changed rows, and always their number. */
const shownChanges = 100

/** A row in which two decks differ. `from` or `to` is null when that deck has no such row. */
export interface Difference {
  readonly direction: Direction
  readonly prefix: string
  readonly from: number | null
  readonly to: number | null
}

/** The rows in which `after` differs from `before`: first those of `before` in their order, then the new ones. */
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

/** The changes from one deck to another, for the audit log; null: no such row. */
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
