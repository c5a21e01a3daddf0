import type { Slots, Ticked } from "./Slots.ts"

/** How often the pairs are checked, and so how late reports and timeouts may be. */
const attendMs = 200

interface Member {
  readonly turn: Ticked
  /** Replaces turns. Returns when it has to be called again at the latest; null: turns are needed. Never throws. */
  readonly attend: (now: number) => number | null
}

/** Two bridged legs. */
export interface Pair {
  readonly members: readonly [Member, Member]
  /** Whether their turns change nothing. `rouse` is called when that ends; it is also checked now and then. */
  readonly isAtRest: () => boolean
  /** When a resting pair has to be attended to. */
  attendAt: number
}

/** Bridged legs whose packets are forwarded without turns. They are attended to all together. */
export const make = (slots: Slots) => {
  const pairs = new Set<Pair>()
  let attendedAt = 0

  /** Gives a pair its turns again, if it rests. */
  const rouse = (pair: Pair, now: number): void => {
    if (!pairs.delete(pair)) return
    for (const { turn } of pair.members) slots.wake(turn, now)
  }

  /**
   * Attends to a pair without allocating, like a turn: no iterator of the set or of the members. If nothing is due, the
   * legs are not touched, because their state would have to be fetched from memory.
   */
  const attendTo = (pair: Pair): void => {
    if (attendedAt < pair.attendAt) return
    const one = pair.members[0].attend(attendedAt)
    const other = pair.members[1].attend(attendedAt)
    if (one === null || other === null || !pair.isAtRest()) return rouse(pair, attendedAt)
    pair.attendAt = Math.min(one, other)
  }

  return {
    /** Lets a pair rest if it may. */
    settle: (pair: Pair, now: number): void => {
      if (!pair.isAtRest()) return
      if (pairs.size === 0) attendedAt = now
      pairs.add(pair)
      pair.attendAt = now
      for (const { turn } of pair.members) slots.rest(turn)
    },
    rouse,
    has: (pair: Pair): boolean => pairs.has(pair),
    tick: (now: number): void => {
      if (pairs.size === 0 || now - attendedAt < attendMs) return
      attendedAt = now
      pairs.forEach(attendTo)
    },
    /** Null when no pair rests. */
    nextDue: (): number | null => (pairs.size === 0 ? null : attendedAt + attendMs)
  }
}
