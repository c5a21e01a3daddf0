import * as TimeSlices from "../../domain/time/TimeSlices.ts"
import * as Destination from "../../domain/number/Destination.ts"
import * as Increments from "../../domain/price/Increments.ts"

/** The rate deck, guide/money.md#rates: longest prefix of the called number → price of its time, by direction. */
export type Direction = "outbound" | "inbound"

export interface Rate extends Increments.Price {
  readonly direction: Direction
  /** The first digits of the number, without `+`. The empty prefix matches every number. */
  readonly prefix: string
}

/**
 * The price of each direction in an empty deck, by the minute. It is that of a local call, so an empty deck has no
 * price for classes of numbers that cost more.
 */
export const defaults: Readonly<Record<Direction, number>> = { outbound: 10_000, inbound: 0 }

const isDear = (number: string): boolean => Destination.of(number).classes.length > 0

export interface RateDeck {
  /** The price of the longest prefix of the number; null when no row matches it. */
  readonly named: (direction: Direction, number: string) => Increments.Price | null
  /**
   * `number` is E.164, the called one. Null: the deck names no price, so calls there are not allowed. An inbound minute
   * without a price is free.
   */
  readonly rate: (direction: Direction, number: string) => Increments.Price | null
}

export const make = (rates: Iterable<Rate>): RateDeck => TimeSlices.atOnce(making(rates))

/** Makes a deck of many rows. */
export function* making(rates: Iterable<Rate>): TimeSlices.Work<RateDeck> {
  const deck = { outbound: new Map<string, Increments.Price>(), inbound: new Map<string, Increments.Price>() }
  for (const { direction, prefix, ...price } of rates) {
    deck[direction].set(prefix, price)
    yield
  }
  const isEmpty = deck.outbound.size + deck.inbound.size === 0
  const named = (direction: Direction, number: string): Increments.Price | null => {
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
      named(direction, number) ??
      (direction === "outbound" && (!isEmpty || isDear(number)) ? null : { microUsdPerMinute: defaults[direction] })
  }
}

/** The price less so many hundredths of a percent, each amount rounded up. */
export const discounted = (price: Increments.Price, hundredths: number): Increments.Price => {
  const less = (micro: number) => Increments.dividedUp(micro * (10_000 - hundredths), 10_000)
  const { increments, microUsdPerMinute } = price
  if (hundredths === 0) return price
  return {
    microUsdPerMinute: less(microUsdPerMinute),
    ...(increments === undefined
      ? {}
      : {
          increments: {
            ...increments,
            connectionFeeMicroUsd: less(increments.connectionFeeMicroUsd),
            minimumMicroUsd: less(increments.minimumMicroUsd)
          }
        })
  }
}

/** 100 dollars a minute. A higher rate has a mistyped unit. */
export const maxMicroUsdPerMinute = 100_000_000

/** Returns the fault of a deck; null when there is none. */
export function* fault(rates: ReadonlyArray<Rate>): TimeSlices.Work<string | null> {
  const seen = new Set<string>()
  for (const { direction, increments, microUsdPerMinute, prefix } of rates) {
    const name = `${direction} "${prefix}"`
    if (!/^[0-9]{0,15}$/.test(prefix)) return `the prefix of ${name} must be up to 15 digits`
    if (!Number.isInteger(microUsdPerMinute) || microUsdPerMinute < 0 || microUsdPerMinute > maxMicroUsdPerMinute)
      return `the rate of ${name} must be a whole number of micro-USD a minute, at most ${maxMicroUsdPerMinute}`
    const wrong = increments === undefined ? null : Increments.fault(increments, maxMicroUsdPerMinute)
    if (wrong !== null) return `${name}: ${wrong}`
    if (seen.has(name)) return `${name} appears twice`
    seen.add(name)
    yield
  }
  return null
}

/** The line in the audit log lists at most this many changed rows, and always their number. */
const shownChanges = 100

/** A price as people read it (`Increments.spelled`). */
type Spelled = number | string

/** A row in which two decks differ. `from` or `to` is null when that deck has no such row. */
export interface Difference {
  readonly direction: Direction
  readonly prefix: string
  readonly from: Spelled | null
  readonly to: Spelled | null
}

/** The rows in which `after` differs from `before`: first those of `before` in their order, then the new ones. */
export function* difference(
  before: ReadonlyArray<Rate>,
  after: ReadonlyArray<Rate>
): TimeSlices.Work<ReadonlyArray<Difference>> {
  const nameOf = ({ direction, prefix }: Rate): string => `${direction} ${prefix}`
  const spelled = (rate: Rate | undefined): Spelled | null => (rate === undefined ? null : Increments.spelled(rate))
  const to = new Map<string, Rate>()
  for (const rate of after) {
    to.set(nameOf(rate), rate)
    yield
  }
  const rows: Array<Difference> = []
  for (const rate of before) {
    const { direction, prefix } = rate
    const name = nameOf(rate)
    const row = { direction, prefix, from: spelled(rate), to: spelled(to.get(name)) }
    if (row.from !== row.to) rows.push(row)
    to.delete(name)
    yield
  }
  for (const rate of to.values()) {
    rows.push({ direction: rate.direction, prefix: rate.prefix, from: null, to: spelled(rate) })
    yield
  }
  return rows
}

/** The changes from one deck to another, for the audit log; null: no such row. */
export function* changes(
  before: ReadonlyArray<Rate>,
  after: ReadonlyArray<Rate>
): TimeSlices.Work<
  ReadonlyArray<{ readonly field: string; readonly from: Spelled | null; readonly to: Spelled | null }>
> {
  const changed = yield* difference(before, after)
  return [
    { field: "rows", from: before.length, to: after.length },
    { field: "changed_rows", from: null, to: changed.length },
    ...changed
      .slice(0, shownChanges)
      .map(({ direction, from, prefix, to }) => ({ field: `${direction} ${prefix}`, from, to }))
  ]
}
