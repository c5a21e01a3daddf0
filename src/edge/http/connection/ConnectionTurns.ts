import * as LoopTurns from "../../../domain/fair/LoopTurns.ts"
import * as Policies from "../../../domain/fair/Policies.ts"

/**
 * The weight of each kind of work, in requests. Reading a connection may bring some milliseconds of work; a request is
 * short.
 */
const weight = { connection: 8, request: 1 } as const

/**
 * Shares the connections that are worked for at once fairly by site (`domain/fair/LoopTurns.ts`). A few begin in each
 * turn of the event loop: two new ones, or sixteen further requests. So thousands of connections of one site that open
 * or close at once are handled one after the other, and those of other sites in between.
 */
interface ConnectionTurns {
  /** Calls `begin` when the site has a place for it, possibly at once. */
  readonly take: (site: string, what: keyof typeof weight, start: () => void) => LoopTurns.Turn
}

export const make = (places: number, nextTurn?: LoopTurns.Options["nextTurn"]): ConnectionTurns => {
  const turns = LoopTurns.make({ ...Policies.connectionTurns, places, ...(nextTurn && { nextTurn }) })
  return { take: (site, what, start) => turns.take(site, start, weight[what]) }
}
