import { Context, Layer } from "effect"
import type { RouteId } from "../domain/Id.ts"

/** What a carrier knows of a trunk by asking it (guide/connections.md#is-it-there). */
export interface TrunkState {
  /** `unknown`: it was not asked yet, or is not asked at all. */
  readonly state: "unknown" | "reachable" | "unreachable"
  /** Since when, in epoch milliseconds. */
  readonly since: number
  /** From the last question to its answer, in milliseconds; null: there was no answer. */
  readonly rttMs: number | null
  /** The status of the last answer; null: there was none. */
  readonly lastStatus: number | null
}

/** The states of trunks, as their carriers report them; as many as the carriers ask. */
export class TrunkStates extends Context.Service<
  TrunkStates,
  {
    /** Null: the trunk is not asked any more. */
    readonly report: (routeId: RouteId, state: TrunkState | null) => void
    /** Null: no carrier asks this trunk. */
    readonly of: (routeId: RouteId) => TrunkState | null
    readonly all: () => ReadonlyMap<RouteId, TrunkState>
  }
>()("trunkline/carrier/TrunkStates") {
  static readonly layer = Layer.sync(TrunkStates, () => {
    const states = new Map<RouteId, TrunkState>()
    return TrunkStates.of({
      report: (routeId, state) => void (state === null ? states.delete(routeId) : states.set(routeId, state)),
      of: (routeId) => states.get(routeId) ?? null,
      all: () => states
    })
  })
}
