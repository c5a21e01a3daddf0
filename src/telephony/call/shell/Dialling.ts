import { Effect } from "effect"
import { Accounts, DialingPermissions } from "../../../money/account/Account.ts"
import { Billing } from "../../../money/billing/Billing.ts"
import { Carrier } from "../../../carrier/Carrier.ts"
import { Trunks } from "../../../numbers/trunk/Trunk.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type * as Id from "../../../domain/Id.ts"
import { Numbers } from "../../../numbers/number/Number.ts"

/** A leg that is to be dialled, before its money is reserved. */
interface Wanted {
  /** Null: the default route. */
  readonly routeId: Id.RouteId | null
  readonly from: string
  readonly to: string
  /**
   * The condition on the calling number: `owned`: it belongs to the tenant; `forwarding`: the tenant's flag allows it;
   * `admitted`: either of them.
   */
  readonly callerId: "owned" | "forwarding" | "admitted"
}

/**
 * The checks of an outbound leg up to money, in the order of guide/calls.md#order-of-checks: route, caller id, dialing
 * permission, rate; and the carrier must be up.
 */
export const make = Effect.gen(function* () {
  const accounts = yield* Accounts
  const billing = yield* Billing
  const carrier = yield* Carrier
  const connections = yield* Trunks
  const dialing = yield* DialingPermissions
  const numbers = yield* Numbers

  const mayForward = (tenantId: Id.TenantId) =>
    Effect.map(accounts.overview(tenantId), ({ quota }) => quota.allowCallerIdForwarding)

  /** The name that the called party sees with the number, which only the number's own tenant can set. Null: none. */
  const checkCallerId = Effect.fnUntraced(function* (tenantId: Id.TenantId, { callerId, from }: Wanted) {
    const own = yield* numbers.callingFrom(tenantId, from)
    const name = own?.callerIdName ?? null
    if (callerId === "forwarding") {
      if (yield* mayForward(tenantId)) return name
      return yield* ApiError.of(
        "caller_id_forwarding_not_allowed",
        "caller id forwarding is not enabled for this tenant",
        "caller_id_forwarding"
      )
    }
    if (own !== null) return name
    if (callerId === "admitted" && (yield* mayForward(tenantId))) return null
    return yield* ApiError.of("from_number_not_owned", `${from} is not an active number of this tenant`, "from")
  })

  return Effect.fnUntraced(function* (tenantId: Id.TenantId, wanted: Wanted) {
    const route = yield* connections.resolve(tenantId, wanted.routeId)
    const callerIdName = yield* checkCallerId(tenantId, wanted)
    yield* dialing.check(tenantId, wanted.to)
    const price = yield* billing.rate(tenantId, "outbound", wanted.to)
    const incarnation = carrier.incarnation(route.adapter)
    if (incarnation === null)
      return yield* ApiError.of("service_unavailable", "the carrier of this route cannot be reached; try again")
    return { route, price, incarnation, callerIdName }
  })
})
