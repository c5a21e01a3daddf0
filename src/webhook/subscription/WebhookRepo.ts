import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { EventType } from "../../domain/event/EventCatalogue.ts"
import type { DeliveryId, SubscriptionId, TenantId } from "../../domain/Id.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import * as Listing from "../../runtime/store/list/Listing.ts"
import { delivery, type DeliveryRow, type DeliveryStatus, subscription, type SubscriptionRow } from "./WebhookView.ts"

/** The filters of `GET /v1/webhook-deliveries`; a delivery matches when all given ones hold. */
export interface DeliveryFilters {
  readonly subscriptionId?: SubscriptionId
  readonly status?: DeliveryStatus
  readonly eventType?: string
  readonly createdAfterMs?: number
}

export type WebhookRepo = Effect.Success<typeof make>

/**
 * Reads and writes rows of `webhook_subscription`, and reads `webhook_delivery` as the log of tenants; every read is by
 * tenant.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* Listing.reader
  const columns = sql`id, target_url, event_types, description, connection_id, is_active, created_at`

  const deliveryColumns = sql`id, subscription_id, event_id, event_type, attempt_no, status, response_status_code,
    response_body_snippet, error_message, sent_at, next_retry_at, created_at`

  const first = <A>(rows: ReadonlyArray<A>): A | null => rows[0] ?? null

  return {
    insert: (tenantId: TenantId, row: SubscriptionRow, sealedSecret: string) => sql`
      INSERT INTO webhook_subscription
        (id, tenant_id, target_url, event_types, description, connection_id, signing_secret, is_active, created_at)
      VALUES (${row.id}, ${tenantId}, ${row.targetUrl}, ${row.eventTypes}::text[], ${row.description},
        ${row.connectionId}, ${sealedSecret}, ${row.isActive}, ${timestamptz(row.createdAt)})`,

    find: (tenantId: TenantId, id: SubscriptionId) =>
      Effect.map(
        sql<SubscriptionRow>`SELECT ${columns} FROM webhook_subscription WHERE tenant_id = ${tenantId} AND id = ${id}`,
        first
      ),

    /** Finds the tenant, for callers other than the tenant. */
    tenantOf: (id: SubscriptionId) =>
      Effect.map(
        sql<{ readonly tenantId: TenantId }>`
          SELECT tenant_id FROM webhook_subscription WHERE id = ${id}`,
        (rows) => rows[0]?.tenantId ?? null
      ),

    /**
     * Counts the tenant's subscriptions, up to `limit`. No other transaction counts for the same tenant until this one
     * ends, so this one may insert.
     */
    countForInsert: (tenantId: TenantId, limit: number) =>
      Effect.andThen(
        sql`SELECT FROM tenant WHERE id = ${tenantId} FOR NO KEY UPDATE`,
        Effect.map(
          sql<{ readonly count: number }>`
            SELECT count(*) AS count FROM
              (SELECT FROM webhook_subscription WHERE tenant_id = ${tenantId} LIMIT ${limit}) AS counted`,
          ([row]) => row?.count ?? 0
        )
      ),

    /** True when an active subscription of the tenant lists one of these events, or all. */
    wants: (tenantId: TenantId, eventTypes: ReadonlyArray<EventType>) =>
      Effect.map(
        sql<{ readonly wanted: boolean }>`
          SELECT EXISTS (SELECT FROM webhook_subscription WHERE tenant_id = ${tenantId} AND is_active
            AND event_types && ${["*", ...eventTypes]}::text[]) AS wanted`,
        ([row]) => row?.wanted === true
      ),

    /** The row is locked until the transaction ends. */
    findForUpdate: (tenantId: TenantId, id: SubscriptionId) =>
      Effect.map(
        sql<SubscriptionRow>`
          SELECT ${columns} FROM webhook_subscription WHERE tenant_id = ${tenantId} AND id = ${id} FOR UPDATE`,
        first
      ),

    /** When a subscription is enabled or gets another URL, its earlier failures no longer count. */
    update: (tenantId: TenantId, row: SubscriptionRow) => sql`
      UPDATE webhook_subscription SET target_url = ${row.targetUrl}, event_types = ${row.eventTypes}::text[],
        description = ${row.description}, connection_id = ${row.connectionId}, is_active = ${row.isActive},
        failing_since = CASE WHEN is_active AND target_url = ${row.targetUrl} THEN failing_since END,
        failed_attempts = CASE WHEN is_active AND target_url = ${row.targetUrl} THEN failed_attempts ELSE 0 END
      WHERE tenant_id = ${tenantId} AND id = ${row.id}`,

    remove: (tenantId: TenantId, id: SubscriptionId) =>
      sql`DELETE FROM webhook_subscription WHERE tenant_id = ${tenantId} AND id = ${id}`,

    /** The newest first. */
    list: (tenantId: TenantId, window: Listing.Window) =>
      read({
        tenantId,
        columns,
        from: sql`webhook_subscription`,
        where: sql`tenant_id = ${tenantId}`,
        order: Listing.byTime(sql, "created_at"),
        window,
        item: subscription
      }),

    delivery: (tenantId: TenantId, id: DeliveryId) =>
      Effect.map(
        sql<DeliveryRow>`SELECT ${deliveryColumns} FROM webhook_delivery WHERE tenant_id = ${tenantId} AND id = ${id}`,
        (rows) => rows[0] ?? null
      ),

    /** Finds the tenant, for callers other than the tenant. */
    tenantOfDelivery: (id: DeliveryId) =>
      Effect.map(
        sql<{ readonly tenantId: TenantId }>`SELECT tenant_id FROM webhook_delivery WHERE id = ${id}`,
        (rows) => rows[0]?.tenantId ?? null
      ),

    /** The newest first. */
    deliveries: (tenantId: TenantId, filters: DeliveryFilters, window: Listing.Window) => {
      const { createdAfterMs, eventType, status, subscriptionId } = filters
      const matches = [
        ...(subscriptionId === undefined ? [] : [sql`subscription_id = ${subscriptionId}`]),
        ...(status === undefined ? [] : [sql`status = ${status}`]),
        ...(eventType === undefined ? [] : [sql`event_type = ${eventType}`]),
        // The given moment itself is excluded, and with it every row that is shown with that millisecond.
        ...(createdAfterMs === undefined ? [] : [sql`created_at >= ${timestamptz(createdAfterMs + 1)}`])
      ]
      return read({
        tenantId,
        columns: deliveryColumns,
        from: sql`webhook_delivery`,
        where: sql`tenant_id = ${tenantId}`,
        filters: matches,
        ...(createdAfterMs === undefined
          ? {}
          : { past: sql`created_at < ${timestamptz(createdAfterMs)} - interval '1 minute'` }),
        order: Listing.byOrdinal(sql),
        window,
        item: delivery
      })
    }
  }
})
