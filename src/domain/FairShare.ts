/**
 * Room that many share and nobody may take alone: each holds at most half of what the others leave. Whoever floods us
 * fills half of the room, the next one half of the rest; so an address that has nothing yet still finds some. Mutable.
 *
 * Where one alone should have nearly everything, each may hold `times` as much as is left free: with 9, nine tenths of
 * what the others leave. One that comes late then finds less at first, and more as the first one gives back.
 */
export interface FairShare {
  /** Whether this holder may have one more, where `used` of `capacity` is in use, by holders and by us. */
  readonly allows: (holder: string, used: number, capacity: number) => boolean
  readonly take: (holder: string) => void
  readonly giveBack: (holder: string) => void
  /** Those who hold something. */
  readonly holders: () => number
}

export const make = (times = 1): FairShare => {
  const held = new Map<string, number>()
  return {
    allows: (holder, used, capacity) => used < capacity && (held.get(holder) ?? 0) <= times * (capacity - used),
    take: (holder) => void held.set(holder, (held.get(holder) ?? 0) + 1),
    giveBack: (holder) => {
      const left = (held.get(holder) ?? 0) - 1
      if (left > 0) held.set(holder, left)
      else held.delete(holder)
    },
    holders: () => held.size
  }
}
