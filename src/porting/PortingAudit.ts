import * as Audit from "../audit/Audit.ts"
import type * as Id from "../domain/Id.ts"

/** Who changes an order. */
export interface Actor {
  readonly actor: Audit.Actor
  readonly ip: string | null
}
export const byKey = (caller: Audit.Caller): Actor => ({ actor: Audit.keyOf(caller), ip: caller.ip })
export const byOperator: Actor = { actor: Audit.operator, ip: null }
export const bySystem: Actor = { actor: Audit.system, ip: null }

export const line = (of: {
  readonly by: Actor
  readonly tenantId: Id.TenantId
  readonly orderId: Id.PortingOrderId
  readonly at: number
  readonly seed: string
  readonly action: string
  readonly changes?: Parameters<typeof Audit.line>[0]["changes"]
}) =>
  Audit.line({
    tenantId: of.tenantId,
    at: of.at,
    seed: of.seed,
    actor: of.by.actor,
    ip: of.by.ip,
    action: of.action,
    resourceType: "porting_order",
    resourceId: of.orderId,
    changes: of.changes ?? []
  })
