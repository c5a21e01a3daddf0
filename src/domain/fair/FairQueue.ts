import * as FairShare from "./FairShare.ts"

/**
 * A queue for a few places that many holders (tenants, addresses) share. Mutable.
 *
 * The next place goes to the holder that has the fewest, among equals to the one that has used the least, and then to
 * the one whose turn is longest ago. The items of one holder keep their order. So a holder alone takes every place, two
 * that want all of them have half each, and a thousand items of one delay another's first by one turn at most.
 *
 * `each` limits the places of one holder. `sparesPlaces` leaves a holder at most half of the places that the others
 * leave, so that a new holder finds one free: for long work with many places.
 *
 * The queue has a capacity of `capacity` items, and one holder fills at most half of what the others leave. A holder is
 * known while it has an item that waits or has a place, or while it rests. A new holder counts as having used as much
 * as the last one in turn, so that staying away saves up no turns.
 */
export interface FairQueue<Item> {
  /** False: there is no room for the item. */
  readonly add: (holder: string, item: Item) => boolean
  /**
   * Gives a free place to the item whose turn it is; null: no place is free for any waiting item. `each`: the most
   * places of one holder for this call.
   */
  readonly next: (each?: number) => Item | null
  /** Ends an item that had a place. `cost`: what it used, in a unit that is the same for all. */
  readonly end: (holder: string, cost: number) => void
  /** Begins nothing more of this holder until it is woken as often as it was put to rest; the others continue. */
  readonly rest: (holder: string) => void
  readonly wake: (holder: string) => void
  /** Removes a waiting item; one that does not wait changes nothing. */
  readonly leave: (holder: string, item: Item) => void
  readonly waiting: () => number
  /** The number of waiting items of one holder. */
  readonly waitingOf: (holder: string) => number
  readonly running: () => number
}

interface Holder<Item> {
  readonly name: string
  readonly line: Set<Item>
  places: number
  rests: number
  used: number
  /** The ordinal of its last turn. */
  turn: number
}

export interface Options {
  /** The number of items that can have a place at once. */
  readonly places: number
  /** The number of items that may wait. */
  readonly capacity: number
  /** The most places of one holder. */
  readonly each?: number
  readonly sparesPlaces?: boolean
}

export const make = <Item>(options: Options): FairQueue<Item> => {
  const { each: most = Infinity, places, sparesPlaces = false } = options
  const holders = new Map<string, Holder<Item>>()
  const waiting = FairShare.counted({ capacity: options.capacity })
  let running = 0
  let turns = 0
  /** How much the holder of the last turn had used. */
  let level = 0

  const known = (name: string): Holder<Item> => {
    const holder = holders.get(name) ?? { name, line: new Set(), places: 0, rests: 0, used: level, turn: 0 }
    holders.set(name, holder)
    return holder
  }
  const forget = (holder: Holder<Item>) => {
    if (holder.places === 0 && holder.rests === 0 && holder.line.size === 0) holders.delete(holder.name)
  }
  const mayStart = (holder: Holder<Item>, each: number): boolean =>
    holder.line.size > 0 &&
    holder.rests === 0 &&
    holder.places < each &&
    (!sparesPlaces || holder.places <= places - running)
  const out = (holder: Holder<Item>, item: Item): boolean => {
    if (!holder.line.delete(item)) return false
    waiting.giveBack(holder.name)
    return true
  }

  return {
    add: (name, item) => {
      if (!waiting.take(name)) return false
      known(name).line.add(item)
      return true
    },
    next: (each = most) => {
      if (running >= places) return null
      let first: Holder<Item> | null = null
      for (const holder of holders.values())
        if (mayStart(holder, Math.min(each, most)) && (first === null || isBefore(holder, first))) first = holder
      if (first === null) return null
      for (const item of first.line) {
        out(first, item)
        first.places++
        first.turn = ++turns
        running++
        level = Math.max(level, first.used)
        return item
      }
      return null
    },
    end: (name, cost) => {
      const holder = holders.get(name)
      if (holder === undefined || holder.places === 0) return
      running--
      holder.places--
      holder.used += cost
      forget(holder)
    },
    rest: (name) => void known(name).rests++,
    wake: (name) => {
      const holder = holders.get(name)
      if (holder === undefined || holder.rests === 0) return
      holder.rests--
      forget(holder)
    },
    leave: (name, item) => {
      const holder = holders.get(name)
      if (holder !== undefined && out(holder, item)) forget(holder)
    },
    waiting: waiting.used,
    waitingOf: (name) => holders.get(name)?.line.size ?? 0,
    running: () => running
  }
}

const isBefore = (one: Holder<unknown>, other: Holder<unknown>): boolean =>
  one.places !== other.places
    ? one.places < other.places
    : one.used !== other.used
      ? one.used < other.used
      : one.turn < other.turn
