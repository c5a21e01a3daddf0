import * as TokenBucket from "../../domain/fair/TokenBucket.ts"
import type { CallId, LegId, RouteId } from "../../domain/Id.ts"
import type { TrunkSettings } from "./ConnectionView.ts"

/** A call, or a leg that was dialled for a call besides its own. */
export type Occupant = CallId | LegId

/**
 * Enforces the limits of trunks: how many calls each route has, and how fast new calls come. Mutable; its size is that
 * of the live calls.
 *
 * A rate of n a second lets n calls in at once, and then one each nth of a second.
 */
interface TrunkCapacity {
  /** Lets a call in, or returns the limit that it exceeds. A call that is already in is counted once. */
  readonly enter: (call: Entering, settings: TrunkSettings, now: number) => "in" | "calls" | "rate"
  /** Counts a call that an earlier process let in. */
  readonly resume: (occupant: Occupant, routeId: RouteId) => void
  readonly leave: (occupant: Occupant) => void
  /** The present calls of the route. */
  readonly count: (routeId: RouteId) => number
  /** Every route that has calls at present. */
  readonly counts: () => ReadonlyMap<RouteId, number>
}

interface Entering {
  readonly occupant: Occupant
  readonly routeId: RouteId
  readonly direction: "inbound" | "outbound"
}

export const make = (): TrunkCapacity => {
  const routes = new Map<Occupant, RouteId>()
  const counts = new Map<RouteId, number>()
  /** The buckets of each route and direction. */
  const rates = TokenBucket.rated({ mostHolders: Infinity })

  const count = (routeId: RouteId): number => counts.get(routeId) ?? 0

  const add = (occupant: Occupant, routeId: RouteId): void => {
    routes.set(occupant, routeId)
    counts.set(routeId, count(routeId) + 1)
  }

  return {
    enter: ({ occupant, direction, routeId }, settings, now) => {
      if (routes.has(occupant)) return "in"
      if (settings.maxCalls !== null && count(routeId) >= settings.maxCalls) return "calls"
      const cps = direction === "outbound" ? settings.outboundCps : settings.inboundCps
      if (cps !== null && !rates.take(`${routeId} ${direction}`, { burst: cps, everyMs: 1_000 / cps }, now))
        return "rate"
      add(occupant, routeId)
      return "in"
    },
    resume: (occupant, routeId) => {
      if (!routes.has(occupant)) add(occupant, routeId)
    },
    leave: (occupant) => {
      const routeId = routes.get(occupant)
      if (routeId === undefined) return
      routes.delete(occupant)
      const left = count(routeId) - 1
      if (left > 0) counts.set(routeId, left)
      else counts.delete(routeId)
    },
    count,
    counts: () => counts
  }
}
