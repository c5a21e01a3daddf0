import * as FairQueue from "./FairQueue.ts"

/** A place, or a position in the queue for one. */
export interface Turn {
  readonly hasPlace: () => boolean
  /**
   * Gives up the place, with the cost of the work (1) as `FairQueue` counts it, or the position in the queue; then
   * `begin` is not called any more.
   */
  readonly leave: (cost?: number) => void
}

/**
 * A fair queue (`FairQueue.ts`) for work of the event loop: only a few items begin in each of its turns. So thousands
 * of items of one holder delay neither other work nor the items of another holder. Mutable.
 */
interface LoopTurns {
  /** Calls `begin` when the holder has its turn, possibly at once. `weight`: its part of `perTurn` (1). */
  readonly take: (holder: string, start: () => void, weight?: number) => Turn
  /** Begins nothing more of this holder until it is woken; the others continue. */
  readonly rest: (holder: string) => void
  readonly wake: (holders: Iterable<string>) => void
  readonly running: () => number
  /** The number of items that wait for their turn. */
  readonly waiting: () => number
}

export interface Options extends FairQueue.Options {
  /** Items begin in a turn until the sum of their weights is this much. */
  readonly perTurn: number
  /** Whether the first item after an idle time also waits for the next turn of the event loop. */
  readonly isDeferred?: boolean
  /** Calls back in the next turn of the event loop. */
  readonly nextTurn?: (then: () => void) => void
}

interface Ticket {
  readonly weight: number
  readonly start: () => void
  isIn: boolean
  isOver: boolean
}

export const make = ({
  isDeferred = false,
  nextTurn = (then) => void setImmediate(then),
  perTurn,
  ...options
}: Options): LoopTurns => {
  const queue = FairQueue.make<Ticket>(options)
  const spent = isDeferred ? perTurn : 0
  /** The weights that began in this turn. */
  let started = spent
  let isAwaited = false

  const awaitTurn = (): void => {
    if (isAwaited) return
    isAwaited = true
    nextTurn(() => {
      isAwaited = false
      started = 0
      fill()
      started = Math.max(started, spent)
    })
  }
  const fill = (): void => {
    while (started < perTurn) {
      const ticket = queue.next()
      if (ticket === null) break
      started += ticket.weight
      ticket.isIn = true
      ticket.start()
    }
    if (isDeferred ? queue.waiting() > 0 : started > 0) awaitTurn()
  }

  return {
    take: (holder, start, weight = 1) => {
      const ticket: Ticket = { weight, start, isIn: false, isOver: false }
      queue.add(holder, ticket)
      fill()
      return {
        hasPlace: () => ticket.isIn,
        leave: (cost = 1) => {
          if (ticket.isOver) return
          ticket.isOver = true
          if (ticket.isIn) queue.end(holder, cost)
          else queue.leave(holder, ticket)
          fill()
        }
      }
    },
    rest: queue.rest,
    wake: (holders) => {
      for (const holder of holders) queue.wake(holder)
      fill()
    },
    running: queue.running,
    waiting: queue.waiting
  }
}
