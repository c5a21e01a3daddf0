import { Context, Layer } from "effect"
import type { RouteId } from "../../domain/Id.ts"

/** The state of a trunk by OPTIONS requests (guide/connections.md#is-it-there). */
export interface TrunkState {
  /** `unknown`: the trunk was not asked yet, or is not asked at all. */
  readonly state: "unknown" | "reachable" | "unreachable"
  /** The start of the state, in epoch milliseconds. */
  readonly since: number
  /** The time from the last OPTIONS request to its answer, in milliseconds; null when there was no answer. */
  readonly rttMs: number | null
  /** The status of the last answer; null when there was none. */
  readonly lastStatus: number | null
}

/** The outcome of a call at its trunk: the class of the final answer, no answer in time, or our cancellation. */
export type Outcome = "2xx" | "3xx" | "4xx" | "5xx" | "6xx" | "none" | "cancelled"

export const classOf = (status: number): Outcome => {
  const hundreds = Math.floor(status / 100)
  return hundreds <= 2 ? "2xx" : hundreds === 3 ? "3xx" : hundreds === 4 ? "4xx" : hundreds === 5 ? "5xx" : "6xx"
}

/** How many routes have their answers counted; calls of further routes are not counted. */
const maxCounted = 10_000

/** The states of trunks as their carriers report them; as many as the carriers ask. */
export class TrunkStates extends Context.Service<
  TrunkStates,
  {
    /** Null when the trunk is not asked any more. */
    readonly report: (routeId: RouteId, state: TrunkState | null) => void
    /** Null when no carrier asks this trunk. */
    readonly of: (routeId: RouteId) => TrunkState | null
    readonly all: () => ReadonlyMap<RouteId, TrunkState>
    /** Counts the end of the ringing of a call that was placed by this route. */
    readonly count: (routeId: RouteId, outcome: Outcome) => void
    readonly answers: () => ReadonlyMap<RouteId, ReadonlyMap<Outcome, number>>
  }
>()("trunkline/carrier/TrunkStates") {
  static readonly layer = Layer.sync(TrunkStates, () => {
    const states = new Map<RouteId, TrunkState>()
    const answers = new Map<RouteId, Map<Outcome, number>>()
    return TrunkStates.of({
      report: (routeId, state) => void (state === null ? states.delete(routeId) : states.set(routeId, state)),
      of: (routeId) => states.get(routeId) ?? null,
      all: () => states,
      count: (routeId, outcome) => {
        const counts = answers.get(routeId) ?? new Map<Outcome, number>()
        if (counts.size === 0 && answers.size >= maxCounted) return
        answers.set(routeId, counts.set(outcome, (counts.get(outcome) ?? 0) + 1))
      },
      answers: () => answers
    })
  })
}
