import * as FairShare from "../../domain/fair/FairShare.ts"
import type { TenantId } from "../../domain/Id.ts"

/** The octets that one tenant's streams hold. */
export interface Share {
  /** Whether this many more octets may wait. */
  readonly allows: (octets: number) => boolean
  /** Counts more waiting octets, or fewer. */
  readonly add: (octets: number) => void
}

export interface StreamQuota {
  readonly held: () => number
  readonly of: (tenant: TenantId) => Share
}

/** Bounds the octets of waiting sound of all streams of a thread: `most`, shared fairly. Mutable. */
export const make = (most: number): StreamQuota => {
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
