import * as FairShare from "../../domain/fair/FairShare.ts"
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

/** Octets of the servers' sound that may wait to be heard, of all streams of a thread: `most`, fairly. Mutable. */
export const make = (most: number): Room => {
  const share = FairShare.make()
  let held = 0
  return {
    held: () => held,
    of: (tenant) => ({
      allows: (octets) => share.allows(tenant, held, most, octets),
      add: (octets) => {
        held += octets
        if (octets > 0) share.take(tenant, octets)
        else share.giveBack(tenant, -octets)
      }
    })
  }
}
