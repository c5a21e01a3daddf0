import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Envelope from "../../domain/event/Envelope.ts"
import * as Id from "../../domain/Id.ts"
import { receipt, type Rendered, type Slot } from "../../runtime/idempotency/Slot.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import * as DeliveryId from "../../runtime/store/journal/DeliveryId.ts"
import type { WebhookEndpointRef } from "../../runtime/store/journal/ClaimedDeliveries.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { type AuditRow, empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as RedeliveryJob from "./RedeliveryJob.ts"
import type * as SubscriptionChange from "./SubscriptionChange.ts"
import type * as WebhookRepo from "./WebhookRepo.ts"
import * as WebhookView from "./WebhookView.ts"

/** The deliveries of a subscription that are made again. The moments themselves are excluded. */
export interface Range {
  readonly createdAfterMs: number | null
  readonly createdBeforeMs: number | null
  readonly status: "succeeded" | "failed"
}

const noDelivery = ApiError.of("not_found", "no such webhook delivery; it may have been deleted because of its age")
const noTarget = ApiError.of("conflict", "nobody subscribes any more: the subscription is inactive or gone")
const underWay = ApiError.of("conflict", "deliveries of this subscription are being made again already")

const redeliverOne = `
UPDATE webhook_delivery d SET ${RedeliveryJob.again}
WHERE d.id = $1::uuid AND d.tenant_id = $2::uuid AND d.due_at IS NULL
RETURNING d.destination AS endpoint, d.tenant_id, d.partition
`

/** SQL that is true while the target of a delivery (`$1`) still exists: an active subscription or a failover URL. */
const hasTarget = `
SELECT FROM webhook_delivery d WHERE d.id = $1::uuid AND (
  EXISTS (SELECT 1 FROM webhook_subscription s WHERE s.id = d.subscription_id AND s.is_active)
  OR (d.subscription_id IS NULL
    AND EXISTS (SELECT 1 FROM tenant t WHERE t.id = d.tenant_id AND t.webhook_failover_url IS NOT NULL)))
`

/** Inserts an event (`$1` id, `$2` tenant, `$3` time, `$4` body) for one subscription (`$5`), in a separate lane. */
const insertTest = `
WITH happened AS (
  INSERT INTO event (id, tenant_id, partition, entity_id, sequence, type, route_id, occurred_at, body)
  SELECT $1::uuid, t.id, t.partition, $1::text, 1, 'webhook.test', NULL, $3::timestamptz, $4
  FROM tenant t WHERE t.id = $2::uuid
  RETURNING id, tenant_id, partition, entity_id, occurred_at
)
INSERT INTO webhook_delivery (id, tenant_id, partition, event_id, event_type, subscription_id, destination, lane, sequence,
  status, due_at, created_at)
SELECT ${DeliveryId.sql({ event: "h.id", occurredAt: "h.occurred_at", endpoint: "$5::text" })}, h.tenant_id, h.partition, h.id,
  'webhook.test', $5, $5, h.entity_id, 1, 'queued', now(), now()
FROM happened h
RETURNING id, destination AS endpoint, tenant_id, partition
`

/**
 * Makes deliveries again on request, and sends tests, guide/webhooks.md#redelivery. The body is the stored one.
 * Enabling an endpoint makes nothing again by itself.
 */
export const make = Effect.fnUntraced(function* (
  repo: WebhookRepo.WebhookRepo,
  changing: Effect.Success<ReturnType<typeof SubscriptionChange.make>>["changing"]
) {
  const { sql, transaction } = yield* Sql.make
  const journal = yield* Journal
  const entropy = yield* Entropy
  const jobs = yield* Jobs
  yield* RedeliveryJob.declare

  const line = (
    tenantId: Id.TenantId,
    by: SubscriptionChange.Author,
    at: number,
    action: "webhook_delivery.redelivered" | "webhook_subscription.redelivered" | "webhook_subscription.tested",
    resourceId: string,
    changes: AuditRow["changes"] = []
  ): AuditRow => ({
    id: Id.deriveUuid(entropy.hex(16), "audit"),
    tenantId,
    at,
    actor: by.actor,
    action,
    resourceType: action.slice(0, action.indexOf(".")),
    resourceId,
    changes,
    ip: by.ip
  })

  const accepted = (body: unknown): Rendered => ({ status: 202, body: JSON.stringify(body) })

  const shown = Effect.fnUntraced(function* (tenantId: Id.TenantId, id: Id.DeliveryId) {
    const row = yield* repo.delivery(tenantId, id)
    return row === null ? yield* noDelivery : WebhookView.delivery(row)
  })

  /** 202 with the delivery. An unfinished one stays as it is; 404, or 409 when its target no longer exists. */
  const redeliver = Effect.fn("Redelivery.redeliver")(function* (
    tenantId: Id.TenantId,
    id: Id.DeliveryId,
    by: SubscriptionChange.Author,
    slot: Slot | null
  ) {
    const at = yield* Clock.currentTimeMillis
    const { made, rendered } = yield* Effect.gen(function* () {
      const before = yield* shown(tenantId, id)
      if ((yield* sql.unsafe(hasTarget, [id])).length === 0) return yield* noTarget
      const made = yield* sql.unsafe<WebhookEndpointRef>(redeliverOne, [id, tenantId])
      const rendered = accepted(yield* shown(tenantId, id))
      const changes = [{ field: "status", from: before.status, to: "queued" }]
      const audit = made.length === 0 ? [] : [line(tenantId, by, at, "webhook_delivery.redelivered", id, changes)]
      yield* journal.commitWithin({ ...empty, audit, receipt: receipt(slot, rendered, at) })
      return { made, rendered }
    }).pipe(transaction)
    yield* journal.wake(made)
    return rendered
  })

  return {
    redeliver,

    /** Does the same for a caller other than its tenant. */
    resend: Effect.fnUntraced(function* (id: Id.DeliveryId, by: SubscriptionChange.Author) {
      const tenantId = yield* repo.tenantOfDelivery(id)
      if (tenantId === null) return yield* noDelivery
      yield* redeliver(tenantId, id, by, null)
      return yield* shown(tenantId, id)
    }),

    /** 202: a job makes the finished deliveries of this range again, portion by portion. 409 while such a job runs. */
    redeliverRange: Effect.fn("Redelivery.redeliverRange")(function* (
      tenantId: Id.TenantId,
      id: Id.SubscriptionId,
      range: Range,
      by: SubscriptionChange.Author,
      slot: Slot | null
    ) {
      const rendered = yield* changing(
        tenantId,
        id,
        slot,
        Effect.fnUntraced(function* (row, at) {
          if (!row.isActive) return yield* noTarget
          const view = WebhookView.redelivery({
            subscriptionId: id,
            createdAfter: range.createdAfterMs,
            createdBefore: range.createdBeforeMs ?? at,
            status: range.status
          })
          // A redelivery whose job has failed for good does not continue, so a new one may replace it.
          const goesOn = yield* jobs.replace(RedeliveryJob.kind, RedeliveryJob.keysOf(id))
          const started = yield* sql`
            INSERT INTO webhook_redelivery (subscription_id, tenant_id, status, created_after, created_before)
            VALUES (${id}, ${tenantId}, ${range.status},
              ${timestamptz(range.createdAfterMs === null ? -Infinity : range.createdAfterMs + 1)},
              ${timestamptz(range.createdBeforeMs ?? at)})
            ON CONFLICT (subscription_id) DO UPDATE SET status = EXCLUDED.status, created_after = EXCLUDED.created_after,
              created_before = EXCLUDED.created_before, position = 0, portions = 0
            WHERE NOT ${goesOn}::boolean RETURNING 1`
          if (started.length === 0) return yield* underWay
          yield* jobs.enqueue({ kind: RedeliveryJob.kind, key: RedeliveryJob.keyOf(id, at, 0), tenantId })
          const changes = Object.entries(view).map(([field, to]) => ({ field, from: null, to }))
          const rendered = accepted(view)
          const audit = [line(tenantId, by, at, "webhook_subscription.redelivered", id, changes)]
          return { result: rendered, rendered, audit, made: [] }
        })
      )
      return rendered
    }),

    /** 202 with the delivery of a `webhook.test`, which goes to this subscription alone. */
    test: Effect.fn("Redelivery.test")(
      (tenantId: Id.TenantId, id: Id.SubscriptionId, by: SubscriptionChange.Author, slot: Slot | null) =>
        changing(
          tenantId,
          id,
          slot,
          Effect.fnUntraced(function* (row, at) {
            if (!row.isActive) return yield* noTarget
            const eventId = Id.deriveTimeUuid(at, entropy.hex(16), "event")
            const body = Envelope.render(
              { type: "webhook.test", data: { subscriptionId: id } },
              { eventId, occurredAt: at, sequence: 1 }
            )
            const [made] = yield* sql.unsafe<WebhookEndpointRef & { readonly id: Id.DeliveryId }>(insertTest, [
              eventId,
              tenantId,
              timestamptz(at),
              body,
              id
            ])
            if (made === undefined) return yield* Effect.die(new Error(`subscription ${id} has no tenant`))
            const rendered = accepted(yield* shown(tenantId, made.id))
            const audit = [line(tenantId, by, at, "webhook_subscription.tested", id)]
            return { result: rendered, rendered, audit, made: [made] }
          })
        )
    )
  } as const
})
