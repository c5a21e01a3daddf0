import type { TenantId } from "../../domain/Id.ts"
import * as FairShare from "../../domain/fair/FairShare.ts"
import * as Policies from "../../domain/fair/Policies.ts"

/** The most legs at once, and the most of them over RTP, which is the number of port pairs. */
export interface Capacity {
  readonly legs: number
  readonly ports: number
}

export interface Held {
  readonly giveBack: () => void
}

/** The places of legs: each takes one in the plane, and over RTP a pair of ports. Tenants share both. */
export const make = (capacity: Capacity) => {
  const legs = FairShare.counted({ ...Policies.legs, capacity: capacity.legs })
  const ports = FairShare.counted({ ...Policies.legs, capacity: capacity.ports })
  return (tenant: TenantId, isRtp: boolean): Held | "too_many_legs" | "no_ports" => {
    if (!legs.allows(tenant)) return "too_many_legs"
    if (isRtp && !ports.allows(tenant)) return "no_ports"
    const taken = isRtp ? [legs, ports] : [legs]
    for (const each of taken) each.add(tenant)
    return {
      giveBack: () => {
        for (const each of taken) each.giveBack(tenant)
      }
    }
  }
}
