import { Effect } from "effect"
import type { EventType } from "../../domain/event/EventCatalogue.ts"
import type { CallId, DeliveryId, SubscriptionId, TenantId } from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import * as Listing from "../../runtime/store/list/Listing.ts"
import { delivery, type DeliveryRow, type DeliveryStatus, subscription, type SubscriptionRow } from "./WebhookView.ts"

/** The filters of `GET /v1/webhook-deliveries`; a delivery matches when all given ones hold. */
export interface DeliveryFilters {
  readonly subscriptionId?: SubscriptionId
  readonly status?: DeliveryStatus
  readonly eventType?: string
  readonly callId?: CallId
  readonly createdAfterMs?: number
}

export type WebhookRepo = Effect.Success<typeof make>

/**
 * Reads and writes rows of `webhook_subscription`, and reads `webhook_delivery` as the log of tenants; every read is by
 * tenant.
 */
export const make = Effect.gen(function* () {
  const { between, column, countForInsert, done, equal, first, some, sql, value, values } = yield* Sql.make
  const read = yield* Listing.reader
  const columns = sql`id, target_url, event_types, description, connection_id, is_active, created_at`

  const deliveryColumns = sql`id, subscription_id, event_id, event_type, attempt_no, status, response_status_code,
    response_body_snippet, error_message, sent_at, next_retry_at, created_at`

  return {
    insert: (tenantId: TenantId, row: SubscriptionRow, sealedSecret: string) => done`
      INSERT INTO webhook_subscription ${values({
        ...row,
        tenantId,
        eventTypes: sql`${row.eventTypes}::text[]`,
        signingSecret: sealedSecret
      })}`,

    find: (tenantId: TenantId, id: SubscriptionId) =>
      first<SubscriptionRow>`SELECT ${columns} FROM webhook_subscription WHERE tenant_id = ${tenantId} AND id = ${id}`,

    /** Finds the tenant, for callers other than the tenant. */
    tenantOf: (id: SubscriptionId) => value<TenantId>`SELECT tenant_id FROM webhook_subscription WHERE id = ${id}`,

    countForInsert: (tenantId: TenantId, limit: number) => countForInsert("webhook_subscription", tenantId, limit),

    /** The active subscriptions of the tenant that were made until then. */
    activeUntil: (tenantId: TenantId, at: number) =>
      column<SubscriptionId>`
        SELECT id FROM webhook_subscription
        WHERE tenant_id = ${tenantId} AND is_active AND created_at <= ${timestamptz(at)} ORDER BY id`,

    /** True when an active subscription of the tenant lists one of these events, or all. */
    wants: (tenantId: TenantId, eventTypes: ReadonlyArray<EventType>) =>
      some`
        SELECT FROM webhook_subscription WHERE tenant_id = ${tenantId} AND is_active
          AND event_types && ${["*", ...eventTypes]}::text[] LIMIT 1`,

    /** The row is locked until the transaction ends. */
    findForUpdate: (tenantId: TenantId, id: SubscriptionId) =>
      first<SubscriptionRow>`
        SELECT ${columns} FROM webhook_subscription WHERE tenant_id = ${tenantId} AND id = ${id} FOR UPDATE`,

    /** When a subscription is enabled or gets another URL, its earlier failures no longer count. */
    update: (tenantId: TenantId, row: SubscriptionRow) => done`
      UPDATE webhook_subscription SET target_url = ${row.targetUrl}, event_types = ${row.eventTypes}::text[],
        description = ${row.description}, connection_id = ${row.connectionId}, is_active = ${row.isActive},
        failing_since = CASE WHEN is_active AND target_url = ${row.targetUrl} THEN failing_since END,
        failed_attempts = CASE WHEN is_active AND target_url = ${row.targetUrl} THEN failed_attempts ELSE 0 END
      WHERE tenant_id = ${tenantId} AND id = ${row.id}`,

    remove: (tenantId: TenantId, id: SubscriptionId) =>
      done`DELETE FROM webhook_subscription WHERE tenant_id = ${tenantId} AND id = ${id}`,

    /** The newest first. */
    list: (tenantId: TenantId, window: Listing.Window) =>
      read({ tenantId, columns, from: "webhook_subscription", window, item: subscription }),

    delivery: (tenantId: TenantId, id: DeliveryId) =>
      first<DeliveryRow>`SELECT ${deliveryColumns} FROM webhook_delivery WHERE tenant_id = ${tenantId} AND id = ${id}`,

    /** Finds the tenant, for callers other than the tenant. */
    tenantOfDelivery: (id: DeliveryId) => value<TenantId>`SELECT tenant_id FROM webhook_delivery WHERE id = ${id}`,

    /** The newest first. */
    deliveries: (tenantId: TenantId, filters: DeliveryFilters, window: Listing.Window) => {
      const { callId, createdAfterMs, eventType, status, subscriptionId } = filters
      return read({
        tenantId,
        columns: deliveryColumns,
        from: "webhook_delivery",
        ...(callId === undefined
          ? {}
          : {
              // The deliveries of a call are found by its events, however many came after them. An event of a
              // conference names a call as its member's, its host's or the recorded one; an index has that condition.
              where: sql`tenant_id = ${tenantId} AND event_id = ANY(ARRAY(
                SELECT id FROM event WHERE entity_id = ${callId} AND tenant_id = ${tenantId}
                UNION ALL
                SELECT id FROM event WHERE starts_with(entity_id, 'svc_conf_') AND tenant_id = ${tenantId}
                  AND coalesce(body::json -> 'data' ->> 'call_id', body::json -> 'data' ->> 'host_call_id') = ${callId}))`
            }),
        filters: [...equal({ subscriptionId, status, eventType }), ...between("createdAt", createdAfterMs)],
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
