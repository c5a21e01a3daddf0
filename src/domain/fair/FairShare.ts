/**
 * Room that many holders share and none may take alone: each holds at most half of what the others leave. One that
 * floods it fills half of the room, the next one half of the rest; so a new holder still finds some. Mutable.
 *
 * Where one alone should have nearly everything, each may hold `times` as much as is left free: with 9, nine tenths of
 * what the others leave. A late holder then finds less at first, and more as the first one gives back. With `Infinity`,
 * the first to come takes everything.
 */
export interface FairShare {
  /** Whether this holder may have `more` (1), when `used` of `capacity` is in use, by holders and the service. */
  readonly allows: (holder: string, used: number, capacity: number, more?: number) => boolean
  readonly take: (holder: string, more?: number) => void
  readonly giveBack: (holder: string, less?: number) => void
  /** The number of holders that hold something. */
  readonly holders: () => number
}

export const make = (times = 1): FairShare => {
  const held = new Map<string, number>()
  return {
    allows: (holder, used, capacity, more = 1) =>
      used + more <= capacity && (held.get(holder) ?? 0) + more - 1 <= times * (capacity - used),
    take: (holder, more = 1) => void held.set(holder, (held.get(holder) ?? 0) + more),
    giveBack: (holder, less = 1) => {
      const left = (held.get(holder) ?? 0) - less
      if (left > 0) held.set(holder, left)
      else held.delete(holder)
    },
    holders: () => held.size
  }
}

export interface Capacity {
  readonly capacity: number
  /** How many times as much as is left free a holder may have (1). */
  readonly times?: number
}

/** A fair share of a fixed capacity that only holders use, so it counts what is in use. Mutable. */
export interface CountedShare {
  /** Whether this holder may have `more` (1). `besides` (0) counts as in use, by others. */
  readonly allows: (holder: string, more?: number, besides?: number) => boolean
  /** Takes `more` (1) if the holder may have them. */
  readonly take: (holder: string, more?: number) => boolean
  /** Takes one after the other, `wanted` at most. Returns how many. */
  readonly takeUpTo: (holder: string, wanted: number) => number
  /** Counts `more` (1) that the holder has already, whatever its share. */
  readonly add: (holder: string, more?: number) => void
  readonly giveBack: (holder: string, less?: number) => void
  readonly used: () => number
  readonly of: (holder: string) => HolderShare
}

/** The share of one holder. */
export interface HolderShare {
  readonly allows: (more: number) => boolean
  /** Counts a change of what it has: more, or less than nothing. */
  readonly add: (change: number) => void
}

export const counted = ({ capacity, times }: Capacity): CountedShare => {
  const share = make(times)
  let used = 0
  const allows = (holder: string, more = 1, besides = 0): boolean =>
    share.allows(holder, used + besides, capacity, more)
  const add = (holder: string, more = 1): void => {
    used += more
    share.take(holder, more)
  }
  const giveBack = (holder: string, less = 1): void => {
    used -= less
    share.giveBack(holder, less)
  }
  const take = (holder: string, more = 1): boolean => {
    const isAllowed = allows(holder, more)
    if (isAllowed) add(holder, more)
    return isAllowed
  }
  return {
    allows,
    take,
    takeUpTo: (holder, wanted) => {
      let taken = 0
      while (taken < wanted && take(holder)) taken++
      return taken
    },
    add,
    giveBack,
    used: () => used,
    of: (holder) => ({
      allows: (more) => allows(holder, more),
      add: (change) => (change > 0 ? add(holder, change) : giveBack(holder, -change))
    })
  }
}
