import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { NumberId, OrderId, RouteId, TenantId } from "../domain/Id.ts"
import * as Listing from "../store/Listing.ts"
import type {
  AvailableNumberView,
  NumberRow,
  NumberStatus,
  NumberType,
  OrderedNumberView,
  OrderRow,
  OrderStatus
} from "./NumberView.ts"
import * as NumberView from "./NumberView.ts"

export interface NumberFilters {
  readonly status?: NumberStatus
  readonly countryCode?: string
  readonly numberType?: NumberType
  readonly phoneNumber?: string
  readonly routeId?: RouteId
}

/** Who a dialled number belongs to. `routeId` null: the tenant's default. */
export interface Owner {
  readonly tenantId: TenantId
  readonly numberId: NumberId
  readonly routeId: RouteId | null
  readonly status: NumberStatus
}

/** Rows of `number_order` and `phone_number`. Failed statements die. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* Listing.reader
  const orderColumns = sql`id, tenant_id::text AS "tenantId", status, country_code AS "countryCode",
    number_type AS "numberType", phone_numbers AS "phoneNumbers", upfront_cost_cents::float8 AS "upfrontCostCents",
    monthly_cost_cents::float8 AS "monthlyCostCents", refunded_cents::float8 AS "refundedCents", route_id AS "routeId",
    customer_reference AS "customerReference", (extract(epoch FROM created_at) * 1000)::float8 AS "createdAt",
    (extract(epoch FROM completed_at) * 1000)::float8 AS "completedAt"`
  const numberColumns = sql`id, phone_number AS "phoneNumber", country_code AS "countryCode", number_type AS "numberType",
    status, name, route_id AS "routeId", features, customer_reference AS "customerReference", tags, order_id AS "orderId",
    upfront_cost_cents::float8 AS "upfrontCostCents", monthly_cost_cents::float8 AS "monthlyCostCents",
    (extract(epoch FROM next_renewal_at) * 1000)::float8 AS "nextRenewalAt",
    (extract(epoch FROM activated_at) * 1000)::float8 AS "activatedAt",
    (extract(epoch FROM released_at) * 1000)::float8 AS "releasedAt",
    (extract(epoch FROM created_at) * 1000)::float8 AS "createdAt",
    (extract(epoch FROM updated_at) * 1000)::float8 AS "updatedAt"`

  return {
    insertOrder: (order: OrderRow) =>
      Effect.orDie(sql`
        INSERT INTO number_order (id, tenant_id, status, country_code, number_type, phone_numbers, upfront_cost_cents,
          monthly_cost_cents, route_id, customer_reference, created_at)
        VALUES (${order.id}, ${order.tenantId}, ${order.status}, ${order.countryCode}, ${order.numberType},
          ${JSON.stringify(order.phoneNumbers)}::text::jsonb, ${order.upfrontCostCents}, ${order.monthlyCostCents},
          ${order.routeId}, ${order.customerReference}, to_timestamp(${order.createdAt} / 1000.0))`),

    /**
     * Claims numbers for an order, as `pending`, and gives those that it claimed. A number that has a living owner by
     * now is not claimed. Numbers are claimed in the order of their digits, so that two orders of the same ones never
     * wait for each other.
     */
    claim: (order: OrderRow, entries: ReadonlyArray<AvailableNumberView & { readonly id: NumberId }>) =>
      Effect.map(
        Effect.orDie(sql<{ readonly phone: string }>`
          INSERT INTO phone_number (id, tenant_id, phone_number, country_code, number_type, status, route_id, features,
            customer_reference, order_id, upfront_cost_cents, monthly_cost_cents, created_at, updated_at)
          SELECT r.id, ${order.tenantId}::text::uuid, r.phone_number, r.country_code, r.number_type, 'pending',
            ${order.routeId}::text, r.features, ${order.customerReference}::text, ${order.id}::text, r.upfront_cost_cents,
            r.monthly_cost_cents, to_timestamp(${order.createdAt}::float8 / 1000.0),
            to_timestamp(${order.createdAt}::float8 / 1000.0)
          FROM jsonb_to_recordset(${JSON.stringify(entries)}::text::jsonb) AS r(id text, phone_number text, country_code text,
            number_type text, features text[], upfront_cost_cents bigint, monthly_cost_cents bigint)
          ORDER BY r.phone_number
          ON CONFLICT DO NOTHING RETURNING phone_number AS phone`),
        (rows) => new Set(rows.map((row) => row.phone))
      ),

    /** Locks the tenant's balance for a debit that must be covered; null for an unknown tenant. */
    lockFunds: (tenantId: TenantId) =>
      Effect.map(
        Effect.orDie(sql<{ readonly cents: number }>`
          SELECT (balance_cents + credit_limit_cents)::float8 AS cents FROM balance WHERE tenant_id = ${tenantId} FOR UPDATE`),
        (rows) => rows[0]?.cents ?? null
      ),

    /** Locks a pending order; null when it is finished. */
    lockPending: (id: OrderId) =>
      Effect.map(
        Effect.orDie(sql<OrderRow>`
          SELECT ${orderColumns} FROM number_order WHERE id = ${id} AND status = 'pending' FOR UPDATE`),
        (rows) => rows[0] ?? null
      ),

    ofOrder: (orderId: OrderId) =>
      Effect.orDie(sql<NumberRow>`
        SELECT ${numberColumns} FROM phone_number WHERE order_id = ${orderId} AND status = 'pending' ORDER BY phone_number`),

    settle: (ids: ReadonlyArray<NumberId>, status: "active" | "failed", at: number) =>
      Effect.orDie(sql`
        UPDATE phone_number SET status = ${status}, updated_at = to_timestamp(${at}::float8 / 1000.0),
          activated_at = CASE WHEN ${status}::text = 'active' THEN to_timestamp(${at}::float8 / 1000.0) END,
          next_renewal_at = CASE WHEN ${status}::text = 'active' THEN to_timestamp(${at}::float8 / 1000.0) + interval '1 month' END
        WHERE id = ANY(${ids}::text[])`),

    finishOrder: (
      id: OrderId,
      fields: {
        readonly status: OrderStatus
        readonly phoneNumbers: ReadonlyArray<OrderedNumberView>
        readonly refundedCents: number
        readonly at: number
      }
    ) =>
      Effect.orDie(sql`
        UPDATE number_order SET status = ${fields.status}, phone_numbers = ${JSON.stringify(fields.phoneNumbers)}::text::jsonb,
          refunded_cents = ${fields.refundedCents}, completed_at = to_timestamp(${fields.at} / 1000.0)
        WHERE id = ${id}`),

    findOrder: (tenantId: TenantId, id: OrderId) =>
      Effect.map(
        Effect.orDie(sql<OrderRow>`
          SELECT ${orderColumns} FROM number_order WHERE tenant_id = ${tenantId} AND id = ${id}`),
        (rows) => rows[0] ?? null
      ),

    listOrders: (tenantId: TenantId, filters: { readonly status?: OrderStatus }, window: Listing.Window) =>
      Effect.orDie(
        read({
          tenantId,
          columns: orderColumns,
          from: sql`number_order`,
          where: sql`tenant_id = ${tenantId}`,
          filters: filters.status === undefined ? [] : [sql`status = ${filters.status}`],
          order: Listing.byTime(sql, "created_at"),
          window,
          item: NumberView.order
        })
      ),

    find: (tenantId: TenantId, id: NumberId) =>
      Effect.map(
        Effect.orDie(sql<NumberRow>`
          SELECT ${numberColumns} FROM phone_number WHERE tenant_id = ${tenantId} AND id = ${id}`),
        (rows) => rows[0] ?? null
      ),

    list: (tenantId: TenantId, filters: NumberFilters, window: Listing.Window) => {
      const { countryCode, numberType, phoneNumber, routeId, status } = filters
      const matching = [
        ...(status === undefined ? [] : [sql`status = ${status}`]),
        ...(countryCode === undefined ? [] : [sql`country_code = ${countryCode}`]),
        ...(numberType === undefined ? [] : [sql`number_type = ${numberType}`]),
        ...(phoneNumber === undefined ? [] : [sql`phone_number = ${phoneNumber}`]),
        ...(routeId === undefined ? [] : [sql`route_id = ${routeId}`])
      ]
      return Effect.orDie(
        read({
          tenantId,
          columns: numberColumns,
          from: sql`phone_number`,
          where: sql`tenant_id = ${tenantId}`,
          filters: matching,
          order: Listing.byTime(sql, "created_at"),
          window,
          item: NumberView.number
        })
      )
    },

    /** Gives an active number back; null: it has no living owner, or is not active. */
    release: (phoneNumber: string, at: number) =>
      Effect.map(
        Effect.orDie(sql<NumberRow & { readonly tenantId: TenantId }>`
          UPDATE phone_number SET status = 'released', released_at = to_timestamp(${at}::float8 / 1000.0),
            updated_at = to_timestamp(${at}::float8 / 1000.0), next_renewal_at = NULL
          WHERE phone_number = ${phoneNumber} AND status = 'active'
          RETURNING tenant_id::text AS "tenantId", ${numberColumns}`),
        (rows) => rows[0] ?? null
      ),

    owner: (phoneNumber: string) =>
      Effect.map(
        Effect.orDie(sql<Owner>`
          SELECT tenant_id::text AS "tenantId", id AS "numberId", route_id AS "routeId", status FROM phone_number
          WHERE phone_number = ${phoneNumber} AND status IN ('pending', 'active', 'port_pending')`),
        (rows): Owner | null => rows[0] ?? null
      )
  }
})

export type NumberRepo = Effect.Success<typeof make>
