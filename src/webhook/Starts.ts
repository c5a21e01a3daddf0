import { Effect } from "effect"
import * as FairQueue from "../domain/FairQueue.ts"

/** Attempts that begin in one turn of the event loop: each costs some tenths of a millisecond of it. */
const perTurn = 4

/**
 * When attempts begin: at most `places` at once, and a few in each turn of the event loop, those of the tenant first
 * that has the fewest under way. So a thousand claimed deliveries of one tenant neither hold up the process nor another
 * tenant's one. It has no bound of its own: what is claimed has one.
 */
export const make = (places: number) => {
  const line = FairQueue.make<{ begin: (() => void) | null }>({ places, room: Infinity })
  let begun = 0

  const nextTurn = (): void => {
    begun = 0
    fill()
  }
  const fill = (): void => {
    while (begun < perTurn) {
      const ticket = line.next()
      if (ticket === null) return
      if (begun++ === 0) setImmediate(nextTurn)
      ticket.begin?.()
    }
  }

  return {
    /** Runs the attempt when its turn has come. What is interrupted while it waits is not begun. */
    within:
      (tenant: string) =>
      (attempt: Effect.Effect<void>): Effect.Effect<void> =>
        Effect.suspend(() => {
          const ticket: { begin: (() => void) | null } = { begin: null }
          let isBegun = false
          const turn = Effect.callback<void>((resume) => {
            ticket.begin = () => {
              isBegun = true
              resume(Effect.void)
            }
            line.add(tenant, ticket)
            fill()
          })
          return Effect.ensuring(
            Effect.andThen(turn, attempt),
            Effect.sync(() => {
              if (isBegun) line.end(tenant, 1)
              else line.leave(tenant, ticket)
              fill()
            })
          )
        }),
    underWay: line.running
  }
}

export type Starts = ReturnType<typeof make>
