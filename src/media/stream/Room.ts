import type { TenantId } from "../../domain/Id.ts"

/** What one tenant's streams hold. */
export interface Share {
  /** Whether so many octets more may wait. */
  readonly allows: (octets: number) => boolean
  /** So many more wait, or fewer. */
  readonly add: (octets: number) => void
}

export interface Room {
  readonly held: () => number
  readonly of: (tenant: TenantId) => Share
}

/**
 * Octets of the servers' sound that may wait to be heard, of all streams of a thread. One tenant holds at most half of
 * what the others leave, as in `domain/FairShare.ts`. Mutable.
 */
export const make = (most: number): Room => {
  const shares = new Map<TenantId, number>()
  let held = 0
  return {
    held: () => held,
    of: (tenant) => ({
      allows: (octets) => (shares.get(tenant) ?? 0) + octets <= most - held,
      add: (octets) => {
        const mine = (shares.get(tenant) ?? 0) + octets
        held += octets
        if (mine > 0) shares.set(tenant, mine)
        else shares.delete(tenant)
      }
    })
  }
}
