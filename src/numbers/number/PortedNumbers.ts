import { Effect } from "effect"
import type { NumberId, PortingOrderId, RouteId, TenantId } from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import * as NumberLife from "./NumberLife.ts"
import { numberColumnsOf, type NumberRepo } from "./NumberRepo.ts"
import type { NumberRow, NumberType } from "./NumberView.ts"

interface Price {
  readonly upfrontCostCents: number
  readonly monthlyCostCents: number
}

/** A porting order whose numbers are on their way. */
interface Claimed {
  readonly id: PortingOrderId
  readonly tenantId: TenantId
  readonly routeId: RouteId | null
  readonly customerReference: string | null
  readonly numbers: ReadonlyArray<
    Price & {
      readonly numberId: NumberId
      readonly phoneNumber: string
      readonly countryCode: string
      readonly numberType: NumberType
    }
  >
  readonly at: number
}

/** Numbers that come from another carrier: claimed as `port_pending`, then active or failed. */
export const make = Effect.fnUntraced(function* (repo: NumberRepo) {
  const { all, done, first, some, sql } = yield* Sql.make
  return {
    /** Whether the operator has the number already, owned by a tenant or not. */
    isOurs: (phoneNumber: string) => some`SELECT 1 FROM inventory WHERE phone_number = ${phoneNumber}`,

    /** The operator's price for such a number: the lowest in the inventory; null when there is none. */
    price: (countryCode: string, numberType: NumberType) =>
      first<Price>`
        SELECT upfront_cost_cents, monthly_cost_cents
        FROM inventory WHERE country_code = ${countryCode} AND number_type = ${numberType}
        ORDER BY monthly_cost_cents, upfront_cost_cents LIMIT 1`,

    /** Claims numbers, and returns those that had no living owner. The move costs nothing. */
    claimWithin: (order: Claimed) =>
      Effect.map(
        all<{ readonly phone: string }>`
          INSERT INTO phone_number (id, tenant_id, phone_number, country_code, number_type, status, route_id, features,
            customer_reference, source, porting_order_id, upfront_cost_cents, monthly_cost_cents, created_at, updated_at)
          SELECT "numberId", ${order.tenantId}::text::uuid, "phoneNumber", "countryCode", "numberType", 'port_pending',
            ${order.routeId}::text, '{voice}', ${order.customerReference}::text, 'port', ${order.id}::text, 0,
            "monthlyCostCents", ${timestamptz(order.at)}, ${timestamptz(order.at)}
          FROM jsonb_to_recordset(${JSON.stringify(order.numbers)}::text::jsonb) AS r("numberId" text, "phoneNumber" text,
            "countryCode" text, "numberType" text, "monthlyCostCents" bigint)
          ORDER BY "phoneNumber"
          ON CONFLICT DO NOTHING RETURNING phone_number AS phone`,
        (rows) => new Set(rows.map(({ phone }) => phone))
      ),

    /**
     * Activates the claimed numbers, or fails them. A ported number is the operator's: it joins the inventory at the
     * prices of its kind, so that it can be ordered after its owner has released it.
     */
    settleWithin: Effect.fnUntraced(function* (
      { customerReference, id, routeId }: Pick<Claimed, "id" | "routeId" | "customerReference">,
      outcome: "active" | "failed",
      at: number
    ) {
      // The order may have changed since it claimed the numbers.
      yield* done`
        UPDATE phone_number SET route_id = ${routeId}, customer_reference = ${customerReference}
        WHERE porting_order_id = ${id} AND status = 'port_pending'`
      const rows = yield* all<NumberRow>`
        SELECT ${numberColumnsOf(sql)} FROM phone_number WHERE porting_order_id = ${id} AND status = 'port_pending'
        ORDER BY phone_number FOR UPDATE`
      const type = outcome === "active" ? "activated" : "failed"
      const settled = rows.flatMap((row) => {
        const step = NumberLife.step(row, { type }, at)
        return step.type === "accepted" ? [{ ...row, ...step.life }] : []
      })
      yield* repo.live(settled, at)
      if (outcome === "active")
        yield* done`
          INSERT INTO inventory (phone_number, country_code, number_type, features, upfront_cost_cents, monthly_cost_cents)
          SELECT p.phone_number, p.country_code, p.number_type, p.features,
            coalesce((SELECT i.upfront_cost_cents FROM inventory i WHERE i.country_code = p.country_code
              AND i.number_type = p.number_type ORDER BY i.monthly_cost_cents, i.upfront_cost_cents LIMIT 1), 0),
            p.monthly_cost_cents
          FROM phone_number p WHERE p.porting_order_id = ${id} AND p.status = 'active'
          ON CONFLICT DO NOTHING`
    })
  }
})

export type PortedNumbers = Effect.Success<ReturnType<typeof make>>
