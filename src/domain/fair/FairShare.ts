/**
 * Room that many holders share and none may take alone: each holds at most half of what the others leave. One that
 * floods it fills half of the room, the next one half of the rest; so a new holder still finds some. Mutable.
 *
 * Where one alone should have nearly everything, each may hold `times` as much as is left free: with 9, nine tenths of
 * what the others leave. A late holder then finds less at first, and more as the first one gives back.
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
