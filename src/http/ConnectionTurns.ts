import * as FairQueue from "../domain/FairQueue.ts"

/** What begins in one turn of the event loop: a connection that is read may bring some milliseconds of work. */
const perTurn = 2

/** A place, or a place in the line before it. */
export interface Turn {
  readonly hasPlace: () => boolean
  /** Leaves the place, or the line; then nothing begins any more. */
  readonly leave: () => void
}

/**
 * Connections that are worked for at once, shared fairly by site (`domain/FairQueue.ts`), a few new ones in each turn of
 * the event loop. So thousands of connections of one site, that come or go at once, are looked at one after the other,
 * and those of another are looked at in between.
 */
export interface ConnectionTurns {
  /** Calls `begin` when the site has a place for it, which may be at once. */
  readonly take: (site: string, begin: () => void) => Turn
}

export const make = (
  places: number,
  nextTurn: (then: () => void) => void = (then) => void setImmediate(then)
): ConnectionTurns => {
  interface Ticket {
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
      if (begun++ === 0)
        nextTurn(() => {
          begun = 0
          fill()
        })
      ticket.isIn = true
      ticket.begin()
    }
  }

  return {
    take: (site, begin) => {
      const ticket: Ticket = { begin, isIn: false, isOver: false }
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
