import type { Slots, Ticked } from "./Slots.ts"

/** How often it is looked who has to be attended to: what reports and time-outs may be late by. */
const attendMs = 200

interface Member {
  readonly turn: Ticked
  /** In place of turns: when it has to be called again, at the latest; null: turns are needed. Never throws. */
  readonly attend: (now: number) => number | null
}

/** Two bridged legs. */
export interface Pair {
  readonly members: readonly [Member, Member]
  /** Whether their turns change nothing. What makes it false is told by `rouse`; it is asked now and then all the same. */
  readonly isAtRest: () => boolean
  /** While they rest: when they have to be attended to. */
  attendAt: number
}

export type RestingPairs = ReturnType<typeof make>

/** Bridged legs whose packets pass by themselves: they have no turns, and are attended to all together. */
export const make = (slots: Slots) => {
  const pairs = new Set<Pair>()
  let attendedAt = 0

  /** Gives a pair its turns again, if it rests. */
  const rouse = (pair: Pair, now: number): void => {
    if (!pairs.delete(pair)) return
    for (const { turn } of pair.members) slots.wake(turn, now)
  }

  /**
   * Allocates nothing, as little as a turn does: no iterator, neither of the set nor of the members. A pair for which
   * nothing is due costs no look at its legs, whose state would have to be fetched from memory.
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
    /** Null when none rests. */
    nextDue: (): number | null => (pairs.size === 0 ? null : attendedAt + attendMs)
  }
}
