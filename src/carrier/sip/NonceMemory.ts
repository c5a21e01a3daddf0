import type { RouteId } from "../../domain/Id.ts"
import type { SipTrunk } from "../Carrier.ts"
import * as Credentials from "./Credentials.ts"

/**
 * The nonces that trunks have issued, for the requests of all their legs: each counts on from the last one, whichever
 * leg sends it (RFC 7616 section 3.4, `nc`).
 */
export interface NonceMemory {
  /** None for a trunk whose address or login has changed since. */
  readonly of: (trunk: SipTrunk) => Credentials.Nonces
  readonly keep: (trunk: SipTrunk, nonces: Credentials.Nonces) => void
}

interface Kept {
  readonly trunk: SipTrunk
  readonly nonces: Credentials.Nonces
}

const isSame = (one: SipTrunk, other: SipTrunk): boolean =>
  one.host === other.host &&
  one.port === other.port &&
  one.transport === other.transport &&
  one.username === other.username &&
  one.password === other.password

/** Keeps the nonces of `limit` trunks. Beyond it the one that was kept longest ago is challenged anew. */
export const make = (limit = 10_000): NonceMemory => {
  const kept = new Map<RouteId, Kept>()
  return {
    of: (trunk) => {
      const found = kept.get(trunk.routeId)
      return found !== undefined && isSame(found.trunk, trunk) ? found.nonces : Credentials.noNonces
    },
    keep: (trunk, nonces) => {
      kept.delete(trunk.routeId)
      if (Object.keys(nonces).length === 0) return
      kept.set(trunk.routeId, { trunk, nonces })
      const [oldest] = kept.keys()
      if (kept.size > limit && oldest !== undefined) kept.delete(oldest)
    }
  }
}
