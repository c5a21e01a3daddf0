import * as FairQueue from "../../../domain/fair/FairQueue.ts"

/**
 * The work that begins in one turn of the event loop, in requests. Fewer would cost everybody more: requests that begin
 * together are looked up and committed together, and a statement for a few costs nearly as much as one for many.
 */
const perTurn = 16

/** The cost of each kind of work, in requests. Reading a connection may bring some milliseconds of work. */
export const cost = { connection: 8, request: 1 } as const

/** A place, or a position in the queue for one. */
export interface Turn {
  readonly hasPlace: () => boolean
  /** Gives up the place, or the position in the queue; then `begin` is not called any more. */
  readonly leave: () => void
}

/**
 * Shares the connections that are worked for at once fairly by site (`domain/fair/FairQueue.ts`). A few begin in each
 * turn of the event loop: two new ones, or sixteen further requests. So thousands of connections of one site that open
 * or close at once are handled one after the other, and those of other sites in between.
 */
export interface ConnectionTurns {
  /** Calls `begin` when the site has a place for it, possibly at once. */
  readonly take: (site: string, what: keyof typeof cost, begin: () => void) => Turn
}

export const make = (
  places: number,
  nextTurn: (then: () => void) => void = (then) => void setImmediate(then)
): ConnectionTurns => {
  interface Ticket {
    readonly cost: number
    readonly begin: () => void
    isIn: boolean
    isOver: boolean
  }
  const line = FairQueue.make<Ticket>({ places, room: Infinity, sparesPlaces: true })
  let begun = 0

  const fill = (): void => {
    while (begun < perTurn) {
      const ticket = line.next()
      if (ticket === null) return
      if (begun === 0)
        nextTurn(() => {
          begun = 0
          fill()
        })
      begun += ticket.cost
      ticket.isIn = true
      ticket.begin()
    }
  }

  return {
    take: (site, what, begin) => {
      const ticket: Ticket = { cost: cost[what], begin, isIn: false, isOver: false }
      line.add(site, ticket)
      fill()
      return {
        hasPlace: () => ticket.isIn,
        leave: () => {
          if (ticket.isOver) return
          ticket.isOver = true
          if (ticket.isIn) line.end(site, 1)
          else line.leave(site, ticket)
          fill()
        }
      }
    }
  }
}
