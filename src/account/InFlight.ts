import type { Live } from "./AccountMachine.ts"

/**
 * What was admitted and has no row yet, by tenant: an account that is read again finds it nowhere else.
 *
 * An admission is in flight from its decision until the first commit of what was admitted, or until it is abandoned;
 * there are never more than requests under way.
 */
export interface InFlight {
  readonly add: (tenantId: string, id: string, live: Live) => void
  readonly remove: (tenantId: string, id: string) => void
  /** As it is now; the copy does not change. */
  readonly of: (tenantId: string) => ReadonlyMap<string, Live>
}

export const make = (): InFlight => {
  const tenants = new Map<string, Map<string, Live>>()
  return {
    add: (tenantId, id, live) => {
      const of = tenants.get(tenantId) ?? new Map<string, Live>()
      tenants.set(tenantId, of.set(id, live))
    },
    remove: (tenantId, id) => {
      const of = tenants.get(tenantId)
      of?.delete(id)
      if (of?.size === 0) tenants.delete(tenantId)
    },
    of: (tenantId) => new Map(tenants.get(tenantId))
  }
}
