import type { EntityId, TenantId } from "../../domain/Id.ts"
import type { Live } from "./Lives.ts"

/**
 * Reservations that are in no row yet, by tenant. An account that is read again finds them nowhere else.
 *
 * A reservation is in flight from its decision until the commit that writes it into a row, or until it is abandoned or
 * its entity has ended. There are never more than requests under way.
 */
interface InFlight {
  readonly add: (tenantId: TenantId, id: EntityId, live: Live) => void
  readonly remove: (tenantId: TenantId, id: EntityId) => void
  /** A copy of the current reservations, which does not change. */
  readonly of: (tenantId: TenantId) => ReadonlyMap<EntityId, Live>
}

export const make = (): InFlight => {
  const tenants = new Map<TenantId, Map<EntityId, Live>>()
  return {
    add: (tenantId, id, live) => {
      const of = tenants.get(tenantId) ?? new Map<EntityId, Live>()
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
