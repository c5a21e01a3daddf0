import type { TenantId } from "../../domain/Id.ts"
import * as FairShare from "../../domain/fair/FairShare.ts"

/**
 * A tenant may hold nine times as much as it leaves free: alone nine tenths of the places, and two tenants come to
 * equal shares.
 */
const fairTimes = 9

/** The most legs at once, and the most of them over RTP, which is the number of port pairs. */
export interface Capacity {
  readonly legs: number
  readonly ports: number
}

/** The places that the legs of tenants take, `capacity` in all. Mutable. */
const places = (capacity: number) => {
  const share = FairShare.make(fairTimes)
  let used = 0
  return {
    allows: (tenant: TenantId): boolean => share.allows(tenant, used, capacity),
    take: (tenant: TenantId): void => {
      used++
      share.take(tenant)
    },
    giveBack: (tenant: TenantId): void => {
      used--
      share.giveBack(tenant)
    }
  }
}

export interface Held {
  readonly giveBack: () => void
}

/** The places of legs: each takes one in the plane, and over RTP a pair of ports. Tenants share both. */
export const make = (capacity: Capacity) => {
  const legs = places(capacity.legs)
  const ports = places(capacity.ports)
  return (tenant: TenantId, isRtp: boolean): Held | "too_many_legs" | "no_ports" => {
    if (!legs.allows(tenant)) return "too_many_legs"
    if (isRtp && !ports.allows(tenant)) return "no_ports"
    const taken = isRtp ? [legs, ports] : [legs]
    for (const each of taken) each.take(tenant)
    return {
      giveBack: () => {
        for (const each of taken) each.giveBack(tenant)
      }
    }
  }
}
