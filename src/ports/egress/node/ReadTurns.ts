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
      let turn: LoopTurns.Turn | null = null
      let cost: number | null = null
      const start = (): void => {
        cost = read()
        turn?.leave(cost)
      }
      turn = turns.take(holder, start)
      if (cost !== null) turn.leave(cost)
      return () => turn?.leave()
    },
    isWaiting: () => turns.waiting() > 0
  }
}
