import type { Slots, Ticked } from "./Slots.ts"

/** How often those at rest are attended to: what reports and time-outs may be late by. */
const attendMs = 200

interface Member {
  readonly turn: Ticked
  /** In place of turns; false: they are needed again. Never throws. */
  readonly attend: (now: number) => boolean
}

/** Two bridged legs. */
export interface Pair {
  readonly members: readonly [Member, Member]
  /** Whether their turns change nothing. */
  readonly isAtRest: () => boolean
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

  /** Allocates nothing, as little as a turn does: no iterator, neither of the set nor of the members. */
  const attendTo = (pair: Pair): void => {
    const isPassing = pair.members[0].attend(attendedAt)
    if (!pair.members[1].attend(attendedAt) || !isPassing || !pair.isAtRest()) rouse(pair, attendedAt)
  }

  return {
    /** Lets a pair rest if it may. */
    settle: (pair: Pair, now: number): void => {
      if (!pair.isAtRest()) return
      if (pairs.size === 0) attendedAt = now
      pairs.add(pair)
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
