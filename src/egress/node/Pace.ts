import * as FairQueue from "../../domain/FairQueue.ts"

/**
 * Lets many long bodies be read without holding up what else the thread does: one of them has its turn in each turn of
 * the event loop, the holders (tenants) by their fair shares, and reads what its connection has buffered, which the
 * stream bounds. A body that waits is not read from its socket, so the other side waits too.
 */
export interface Pace {
  /** Has `read` called once, in the holder's turn; it answers how many bytes it took. Returns how to leave the line. */
  readonly ask: (holder: string, read: () => number) => () => void
}

/** Far more than requests may be under way, each of which waits once. */
const room = 65_536

interface Turn {
  readonly holder: string
  readonly read: () => number
}

export const make = (nextTurn: (then: () => void) => void = (then) => void setImmediate(then)): Pace => {
  const line = FairQueue.make<Turn>({ places: 1, room })
  let isAwaited = false

  const schedule = (): void => {
    if (isAwaited || line.waiting() === 0) return
    isAwaited = true
    nextTurn(give)
  }

  const give = (): void => {
    isAwaited = false
    const turn = line.next()
    if (turn !== null) line.end(turn.holder, turn.read())
    schedule()
  }

  return {
    ask: (holder, read) => {
      const turn: Turn = { holder, read }
      line.add(holder, turn)
      schedule()
      return () => line.leave(holder, turn)
    }
  }
}
