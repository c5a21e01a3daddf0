import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { DeliveryRow, DeliveryStatus, SubscriptionRow } from "./WebhookView.ts"

export interface Window {
  readonly limit: number
  readonly offset: number
}

/** What `GET /v1/webhook-deliveries` can ask for; all that are given hold together. */
export interface DeliveryFilters {
  readonly subscriptionId?: string
  readonly status?: DeliveryStatus
  readonly eventType?: string
  readonly createdAfterMs?: number
}

/** Rows of `webhook_subscription`, and `webhook_delivery` as the log that tenants read; every read is by tenant. */
export const make = (sql: SqlClient.SqlClient) => {
  const columns = sql`id, target_url AS "targetUrl", event_types AS "eventTypes", description,
    connection_id AS "connectionId", is_active AS "isActive", (extract(epoch FROM created_at) * 1000)::float8 AS "createdAt"`

  const deliveryColumns = sql`id::text AS id, subscription_id AS "subscriptionId", event_id::text AS "eventId",
    event_type AS "eventType", attempt_no AS "attemptNo", status, response_status_code AS "responseStatusCode",
    response_body_snippet AS "responseBodySnippet", error_message AS "errorMessage",
    (extract(epoch FROM sent_at) * 1000)::float8 AS "sentAt",
    (extract(epoch FROM next_retry_at) * 1000)::float8 AS "nextRetryAt",
    (extract(epoch FROM created_at) * 1000)::float8 AS "createdAt"`

  const first = <A>(rows: ReadonlyArray<A>): A | null => rows[0] ?? null
  const count = (rows: ReadonlyArray<{ readonly count: number }>): number => rows[0]?.count ?? 0

  return {
    insert: (tenantId: string, row: SubscriptionRow, sealedSecret: string) => sql`
      INSERT INTO webhook_subscription
        (id, tenant_id, target_url, event_types, description, connection_id, signing_secret, is_active, created_at)
      VALUES (${row.id}, ${tenantId}, ${row.targetUrl}, ${row.eventTypes}::text[], ${row.description},
        ${row.connectionId}, ${sealedSecret}, ${row.isActive}, to_timestamp(${row.createdAt} / 1000.0))`,

    find: (tenantId: string, id: string) =>
      Effect.map(
        sql<SubscriptionRow>`SELECT ${columns} FROM webhook_subscription WHERE tenant_id = ${tenantId} AND id = ${id}`,
        first
      ),

    /** Locked until the transaction ends. */
    findForUpdate: (tenantId: string, id: string) =>
      Effect.map(
        sql<SubscriptionRow>`
          SELECT ${columns} FROM webhook_subscription WHERE tenant_id = ${tenantId} AND id = ${id} FOR UPDATE`,
        first
      ),

    update: (tenantId: string, row: SubscriptionRow) => sql`
      UPDATE webhook_subscription SET target_url = ${row.targetUrl}, event_types = ${row.eventTypes}::text[],
        description = ${row.description}, connection_id = ${row.connectionId}, is_active = ${row.isActive}
      WHERE tenant_id = ${tenantId} AND id = ${row.id}`,

    remove: (tenantId: string, id: string) =>
      sql`DELETE FROM webhook_subscription WHERE tenant_id = ${tenantId} AND id = ${id}`,

    /** Newest first. */
    list: Effect.fnUntraced(function* (tenantId: string, window: Window) {
      const total = yield* sql<{ readonly count: number }>`
        SELECT count(*)::int AS count FROM webhook_subscription WHERE tenant_id = ${tenantId}`
      const rows = yield* sql<SubscriptionRow>`
        SELECT ${columns} FROM webhook_subscription WHERE tenant_id = ${tenantId}
        ORDER BY created_at DESC, id LIMIT ${window.limit} OFFSET ${window.offset}`
      return { count: count(total), rows }
    }),

    /** Newest first. */
    deliveries: Effect.fnUntraced(function* (tenantId: string, filters: DeliveryFilters, window: Window) {
      const { createdAfterMs, eventType, status, subscriptionId } = filters
      const matches = sql.and([
        sql`tenant_id = ${tenantId}`,
        ...(subscriptionId === undefined ? [] : [sql`subscription_id = ${subscriptionId}`]),
        ...(status === undefined ? [] : [sql`status = ${status}`]),
        ...(eventType === undefined ? [] : [sql`event_type = ${eventType}`]),
        // As shown: `created_at` of the last row seen does not find that row again.
        ...(createdAfterMs === undefined
          ? []
          : [sql`date_trunc('milliseconds', created_at) > to_timestamp(${createdAfterMs}::float8 / 1000.0)`])
      ])
      const total = yield* sql<{ readonly count: number }>`
        SELECT count(*)::int AS count FROM webhook_delivery WHERE ${matches}`
      const rows = yield* sql<DeliveryRow>`
        SELECT ${deliveryColumns} FROM webhook_delivery WHERE ${matches}
        ORDER BY ordinal DESC LIMIT ${window.limit} OFFSET ${window.offset}`
      return { count: count(total), rows }
    })
  }
}
