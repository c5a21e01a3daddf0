import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { NumberId, OrderId, RouteId, TenantId } from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import * as Listing from "../../runtime/store/list/Listing.ts"
import { checkAt, type Life } from "./NumberLife.ts"
import type {
  AvailableNumberView,
  InboundRecording,
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

/** The owner of a dialled number, and the facts that calls need. `routeId` null is the tenant's default. */
export interface Owner {
  readonly tenantId: TenantId
  readonly numberId: NumberId
  readonly routeId: RouteId | null
  readonly status: NumberStatus
  /** The number is active, but it neither takes nor places calls. */
  readonly isSuspended: boolean
  readonly callerIdName: string | null
  readonly inboundRecording: InboundRecording
}

/** A position among the due numbers: a moment in the database's spelling, and an id. */
export interface Due {
  readonly at: string
  readonly id: NumberId
}
export type DueNumber = NumberRow & { readonly dueAt: string }

const recording = `jsonb_build_object('enabled', records_inbound, 'format', recording_format, 'channels', recording_channels)`

/** The columns of a `NumberRow`. */
export const numberColumnsOf = (sql: SqlClient.SqlClient) => sql`id, phone_number, country_code, number_type, status,
  name, route_id, features, caller_id_name, ${sql.literal(recording)} AS inbound_recording, emergency_address_id,
  emergency_enabled, customer_reference, tags, source, order_id, porting_order_id, upfront_cost_cents,
  monthly_cost_cents, reminders,
  next_renewal_at, unpaid_since,
  unpaid_suspended_at, operator_suspended_at,
  activated_at, released_at,
  held_until, aged_until, owed_from, owed_until,
  created_at, updated_at, coalesce(debited_cents, upfront_cost_cents) AS debited_cents`

/** Rows of `number_order` and `phone_number`. Failed statements die. */
export const make = Effect.gen(function* () {
  const { all, column, done, equal, first, json, some, sql, value, values } = yield* Sql.make
  const read = yield* Listing.reader
  const orderColumns = sql`id, tenant_id, status, country_code, number_type, phone_numbers, upfront_cost_cents,
    monthly_cost_cents, coalesce(debited_cents, upfront_cost_cents) AS debited_cents, refunded_cents, route_id,
    customer_reference, created_at, completed_at`
  const numberColumns = numberColumnsOf(sql)
  /**
   * The numbers of a tenant with a month that has begun and is not paid, by the oldest such month: those that are due,
   * and those that it has no longer. A closed tenant owes nothing for the latter.
   */
  const owing = (tenantId: TenantId, now: number) => sql`
    SELECT id, next_renewal_at AS due_at FROM phone_number
    WHERE tenant_id = ${tenantId} AND status = 'active' AND next_renewal_at <= ${timestamptz(now)}
    UNION ALL
    SELECT id, owed_from AS due_at FROM phone_number
    WHERE tenant_id = ${tenantId} AND owed_from IS NOT NULL
      AND EXISTS (SELECT FROM tenant WHERE id = ${tenantId} AND status <> 'closed')`
  const oldest = (tenantId: TenantId, now: number, limit: number) => sql`
    SELECT ${numberColumns} FROM phone_number
    WHERE id IN (SELECT id FROM (${owing(tenantId, now)}) owing ORDER BY due_at, id LIMIT ${limit}) ORDER BY id`

  return {
    insertOrder: (order: OrderRow) =>
      done`INSERT INTO number_order ${values({ ...order, phoneNumbers: json(order.phoneNumbers) })}`,

    /**
     * Claims numbers for an order, as `pending`, and returns those that it claimed. A number that has a living owner by
     * now is not claimed. Numbers are claimed in the order of their digits, so that two orders of the same ones do not
     * deadlock.
     */
    claim: (order: OrderRow, entries: ReadonlyArray<AvailableNumberView & { readonly id: NumberId }>) =>
      Effect.map(
        all<{ readonly phone: string }>`
          INSERT INTO phone_number (id, tenant_id, phone_number, country_code, number_type, status, route_id, features,
            customer_reference, order_id, upfront_cost_cents, monthly_cost_cents, debited_cents, created_at, updated_at)
          SELECT r.id, ${order.tenantId}::text::uuid, r.phone_number, r.country_code, r.number_type, 'pending',
            ${order.routeId}::text, r.features, ${order.customerReference}::text, ${order.id}::text, r.upfront_cost_cents,
            r.monthly_cost_cents, r.upfront_cost_cents + r.monthly_cost_cents, ${timestamptz(order.createdAt)},
            ${timestamptz(order.createdAt)}
          FROM jsonb_to_recordset(${JSON.stringify(entries)}::text::jsonb) AS r(id text, phone_number text, country_code text,
            number_type text, features text[], upfront_cost_cents bigint, monthly_cost_cents bigint)
          ORDER BY r.phone_number
          ON CONFLICT DO NOTHING RETURNING phone_number AS phone`,
        (rows) => new Set(rows.map((row) => row.phone))
      ),

    /** Locks the tenant's balance for a debit that must be covered; null for an unknown tenant. */
    lockFunds: (tenantId: TenantId) =>
      value<number>`
        SELECT balance_cents + credit_limit_cents AS cents FROM balance WHERE tenant_id = ${tenantId} FOR UPDATE`,

    /** A pending order; null when it is finished. */
    pending: (id: OrderId) =>
      first<OrderRow>`SELECT ${orderColumns} FROM number_order WHERE id = ${id} AND status = 'pending'`,

    /** Locks a pending order; null when it is finished. */
    lockPending: (id: OrderId) =>
      first<OrderRow>`SELECT ${orderColumns} FROM number_order WHERE id = ${id} AND status = 'pending' FOR UPDATE`,

    ofOrder: (orderId: OrderId) =>
      all<NumberRow>`
        SELECT ${numberColumns} FROM phone_number WHERE order_id = ${orderId} AND status = 'pending' ORDER BY phone_number`,

    /** Locks a number until the transaction ends. */
    lock: (tenantId: TenantId, id: NumberId) =>
      first<NumberRow>`
        SELECT ${numberColumns} FROM phone_number WHERE tenant_id = ${tenantId} AND id = ${id} FOR UPDATE`,

    /** Locks numbers until the transaction ends, in an order that avoids deadlocks. */
    lockAll: (ids: ReadonlyArray<NumberId>) =>
      all<NumberRow>`SELECT ${numberColumns} FROM phone_number WHERE id = ANY(${ids}::text[]) ORDER BY id FOR UPDATE`,

    /** A tenant's numbers with a month to pay, the oldest first, after this position. */
    due: (tenantId: TenantId, now: number, after: Due | null, limit: number) =>
      all<DueNumber>`
        SELECT ${numberColumns}, coalesce(next_renewal_at, owed_from)::text AS due_at FROM phone_number
        WHERE id IN (
          SELECT id FROM (${owing(tenantId, now)}) owing
          WHERE (due_at, id) > (${after?.at ?? "-infinity"}::text::timestamptz, ${after?.id ?? ""})
          ORDER BY due_at, id LIMIT ${limit})
        ORDER BY coalesce(next_renewal_at, owed_from), id`,

    /** Some active numbers of a closed tenant, locked until the transaction ends. */
    lockClosed: (tenantId: TenantId, limit: number) =>
      all<NumberRow>`
        SELECT ${numberColumns} FROM phone_number WHERE tenant_id = ${tenantId} AND status = 'active'
          AND EXISTS (SELECT FROM tenant WHERE id = ${tenantId} AND status = 'closed')
        ORDER BY id LIMIT ${limit} FOR UPDATE`,

    /** Tenants with numbers that a renewal may change: by time, by new money, or because the tenant is closed. */
    renewable: (now: number, limit: number) =>
      column<TenantId>`
        SELECT DISTINCT tenant_id FROM (
          SELECT tenant_id FROM phone_number
          WHERE status = 'active' AND check_at <= ${timestamptz(now)} ORDER BY check_at LIMIT ${limit}
        ) due
        UNION
        SELECT tenant_id FROM (
          SELECT DISTINCT p.tenant_id FROM phone_number p JOIN balance b ON b.tenant_id = p.tenant_id
          WHERE p.status = 'active' AND p.unpaid_since IS NOT NULL
            AND b.balance_cents + b.credit_limit_cents >= p.monthly_cost_cents LIMIT ${limit}
        ) payable
        UNION
        SELECT tenant_id FROM (
          SELECT DISTINCT p.tenant_id FROM phone_number p JOIN balance b ON b.tenant_id = p.tenant_id
          JOIN tenant t ON t.id = p.tenant_id AND t.status <> 'closed'
          WHERE p.owed_from IS NOT NULL AND b.balance_cents + b.credit_limit_cents >= p.monthly_cost_cents LIMIT ${limit}
        ) owing
        UNION
        SELECT id FROM tenant t WHERE status = 'closed'
          AND EXISTS (SELECT FROM phone_number WHERE tenant_id = t.id AND status = 'active')`,

    /** At most `limit` of the numbers that owe a month, those with the oldest months, in the order of their ids. */
    owing: (tenantId: TenantId, now: number, limit: number) => all<NumberRow>`${oldest(tenantId, now, limit)}`,

    /** Locks these numbers until the transaction ends. Some may be paid by now. */
    lockOwing: (tenantId: TenantId, now: number, limit: number) =>
      all<NumberRow>`${oldest(tenantId, now, limit)} FOR UPDATE`,

    /** Whether payment of a month was refused for any of its numbers, or one is owed for a number that it has lost. */
    owes: (tenantId: TenantId) =>
      some`
        SELECT FROM phone_number WHERE tenant_id = ${tenantId} AND status = 'active' AND unpaid_since IS NOT NULL
        UNION ALL
        SELECT FROM phone_number WHERE tenant_id = ${tenantId} AND owed_from IS NOT NULL LIMIT 1`,

    /** Writes the `Life` of these numbers. */
    live: (rows: ReadonlyArray<Life & { readonly id: NumberId }>, at: number) =>
      done`
        UPDATE phone_number n SET status = r.status, activated_at = to_timestamp(r."activatedAt" / 1000),
          next_renewal_at = to_timestamp(r."nextRenewalAt" / 1000), unpaid_since = to_timestamp(r."unpaidSince" / 1000),
          reminders = r.reminders, unpaid_suspended_at = to_timestamp(r."unpaidSuspendedAt" / 1000),
          operator_suspended_at = to_timestamp(r."operatorSuspendedAt" / 1000),
          emergency_address_id = r."emergencyAddressId", emergency_enabled = r."emergencyEnabled",
          released_at = to_timestamp(r."releasedAt" / 1000), held_until = to_timestamp(r."heldUntil" / 1000),
          aged_until = to_timestamp(r."agedUntil" / 1000), owed_from = to_timestamp(r."owedFrom" / 1000),
          owed_until = to_timestamp(r."owedUntil" / 1000), check_at = to_timestamp(r."checkAt" / 1000),
          updated_at = ${timestamptz(at)}
        FROM jsonb_to_recordset(${JSON.stringify(rows.map(lifeOf))}::text::jsonb) AS r(id text, status text,
          "activatedAt" float8, "nextRenewalAt" float8, "unpaidSince" float8, reminders int, "unpaidSuspendedAt" float8,
          "operatorSuspendedAt" float8, "emergencyAddressId" text, "emergencyEnabled" boolean, "releasedAt" float8,
          "heldUntil" float8, "agedUntil" float8, "owedFrom" float8, "owedUntil" float8, "checkAt" float8)
        WHERE n.id = r.id`,

    /** Writes the fields that the tenant configures. */
    configure: (row: NumberRow, at: number) =>
      done`
        UPDATE phone_number SET route_id = ${row.routeId}, name = ${row.name}, tags = ${row.tags}::text[],
          customer_reference = ${row.customerReference}, caller_id_name = ${row.callerIdName},
          records_inbound = ${row.inboundRecording.enabled}, recording_format = ${row.inboundRecording.format},
          recording_channels = ${row.inboundRecording.channels}, emergency_address_id = ${row.emergencyAddressId},
          emergency_enabled = ${row.emergencyEnabled}, monthly_cost_cents = ${row.monthlyCostCents},
          updated_at = ${timestamptz(at)}
        WHERE id = ${row.id}`,

    finishOrder: (
      id: OrderId,
      fields: {
        readonly status: OrderStatus
        readonly phoneNumbers: ReadonlyArray<OrderedNumberView>
        readonly refundedCents: number
        readonly at: number
      }
    ) =>
      done`
        UPDATE number_order SET status = ${fields.status}, phone_numbers = ${JSON.stringify(fields.phoneNumbers)}::text::jsonb,
          refunded_cents = ${fields.refundedCents}, completed_at = ${timestamptz(fields.at)}
        WHERE id = ${id}`,

    findOrder: (tenantId: TenantId, id: OrderId) =>
      first<OrderRow>`SELECT ${orderColumns} FROM number_order WHERE tenant_id = ${tenantId} AND id = ${id}`,

    listOrders: (tenantId: TenantId, filters: { readonly status?: OrderStatus }, window: Listing.Window) =>
      read({
        tenantId,
        columns: orderColumns,
        from: "number_order",
        filters: equal({ status: filters.status }),
        window,
        item: NumberView.order
      }),

    find: (tenantId: TenantId, id: NumberId) =>
      first<NumberRow>`SELECT ${numberColumns} FROM phone_number WHERE tenant_id = ${tenantId} AND id = ${id}`,

    list: (
      tenantId: TenantId,
      { countryCode, numberType, phoneNumber, routeId, status }: NumberFilters,
      window: Listing.Window
    ) =>
      read({
        tenantId,
        columns: numberColumns,
        from: "phone_number",
        filters: equal({ status, countryCode, numberType, phoneNumber, routeId }),
        window,
        item: NumberView.number
      }),

    owner: (phoneNumber: string) =>
      first<Owner>`
        SELECT tenant_id, id AS number_id, route_id, status,
          coalesce(unpaid_suspended_at, operator_suspended_at) IS NOT NULL AS is_suspended, caller_id_name,
          ${sql.literal(recording)} AS inbound_recording FROM phone_number
        WHERE phone_number = ${phoneNumber} AND status IN ('pending', 'active', 'port_pending')`
  }
})

const lifeOf = (row: Life & { readonly id: NumberId }) => ({
  id: row.id,
  status: row.status,
  activatedAt: row.activatedAt,
  nextRenewalAt: row.nextRenewalAt,
  unpaidSince: row.unpaidSince,
  reminders: row.reminders,
  unpaidSuspendedAt: row.unpaidSuspendedAt,
  operatorSuspendedAt: row.operatorSuspendedAt,
  emergencyAddressId: row.emergencyAddressId,
  emergencyEnabled: row.emergencyEnabled,
  releasedAt: row.releasedAt,
  heldUntil: row.heldUntil,
  agedUntil: row.agedUntil,
  owedFrom: row.owedFrom,
  owedUntil: row.owedUntil,
  checkAt: checkAt(row)
})

export type NumberRepo = Effect.Success<typeof make>
