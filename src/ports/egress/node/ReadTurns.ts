import * as LoopTurns from "../../../domain/fair/LoopTurns.ts"
import * as Policies from "../../../domain/fair/Policies.ts"

/**
 * The turns in which the WebSockets of a thread are read: a few portions in each turn of its event loop, shared fairly
 * by holder (tenant). So no server can keep the thread from its other work, whatever it sends.
 */
export interface ReadTurns {
  /** Calls `read` once in the holder's turn, possibly at once; `read` returns its cost. Returns a way to leave. */
  readonly ask: (holder: string, read: () => number) => () => void
  /** Whether any wait, so that the thread must not rest. */
  readonly isWaiting: () => boolean
}

export const make = (nextTurn?: LoopTurns.Options["nextTurn"]): ReadTurns => {
  const turns = LoopTurns.make({ ...Policies.socketTurns, ...(nextTurn && { nextTurn }) })
  return {
    ask: (holder, read) => {
      const state: { turn?: LoopTurns.Turn; cost?: number } = {}
      const end = (): void => {
        if (state.cost !== undefined) state.turn?.leave(state.cost)
      }
      state.turn = turns.take(holder, () => {
        state.cost = read()
        end()
      })
      // The turn may have come, and ended, before it is known here.
      end()
      return state.turn.leave
    },
    isWaiting: () => turns.waiting() > 0
  }
}
