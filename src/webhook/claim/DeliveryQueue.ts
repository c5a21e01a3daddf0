import type * as Id from "../../domain/Id.ts"
import * as DeliveryId from "../../runtime/store/journal/DeliveryId.ts"
import { leaseMs } from "../../runtime/store/journal/ClaimedDeliveries.ts"
import * as HeldPartitions from "../../runtime/store/owner/HeldPartitions.ts"
import * as Overtaken from "./Overtaken.ts"
import { relaxed } from "./Relaxed.ts"

/**
 * The statements on `webhook_delivery` as a queue, besides its claim (`ClaimStatement.ts`) and the due rows
 * (`DueStatement.ts`): outcomes, failover, release. All due times are the database's clock.
 */

/** The outcome of an attempt, as a parameter of the statements. */
export interface Outcome {
  readonly id: Id.DeliveryId
  readonly tenantId: Id.TenantId
  readonly endpoint: string
  /** When it was claimed, its endpoint was failing (`Delivery.isFailing`). */
  readonly wasFailing: boolean
  readonly eventId: Id.EventId
  readonly attemptNo: number
  readonly status: "succeeded" | "failed" | "queued"
  readonly retryAfterMs: number | null
  readonly statusCode: number | null
  readonly bodySnippet: string | null
  readonly errorMessage: string | null
  /** Epoch milliseconds; null: nothing was sent, and the claim counts as no attempt. */
  readonly sentAt: number | null
}

/**
 * Writes many successes, the common case. `$1`: JSON array of `Outcome`; `$2` and `$3`: the partitions that this
 * process holds (`HeldPartitions`). An outcome is written only to the attempt that it belongs to, and only in a held
 * partition: in another one, its process makes the attempt again.
 */
export const succeed = `
WITH ${relaxed},${HeldPartitions.held("$2", "$3")},
outcome AS MATERIALIZED (
  SELECT r.* FROM relaxed CROSS JOIN jsonb_to_recordset($1::jsonb)
    AS r(id uuid, "attemptNo" int, "statusCode" int, "bodySnippet" text, "sentAt" float8)
)
UPDATE webhook_delivery d
SET status = 'succeeded', due_at = NULL, next_retry_at = NULL, response_status_code = o."statusCode",
  response_body_snippet = o."bodySnippet", error_message = NULL, sent_at = to_timestamp(o."sentAt" / 1000.0)
FROM outcome o
WHERE d.id = ANY (ARRAY(SELECT id FROM outcome)) AND d.id = o.id
  AND d.status = 'sending' AND d.attempt_no = o."attemptNo" AND d.partition = ANY (ARRAY(SELECT partition FROM held))
`

/**
 * Writes outcomes of every kind. `$1`: JSON array of `Outcome`. An outcome is written only to the attempt that it
 * belongs to, and a retry is made only if there still is an active subscription or a failover URL. Returns the events
 * of deliveries that failed for good.
 *
 * Postgres keeps a plan that it made while the table was small; with a join, that plan would still read the whole
 * table. So the statement asks for rows one by one, and by an array of ids.
 */
export const conclude = `
WITH ${relaxed},
outcome AS MATERIALIZED (
  SELECT r.* FROM relaxed CROSS JOIN jsonb_to_recordset($1::jsonb) AS r(id uuid, "attemptNo" int, status text, "retryAfterMs" float8,
    "statusCode" int, "bodySnippet" text, "errorMessage" text, "sentAt" float8)
),
judged AS MATERIALIZED (
  SELECT o.*, (o.status = 'queued' AND (
    EXISTS (SELECT 1 FROM webhook_subscription s WHERE s.id = d.subscription_id AND s.is_active)
    OR (d.subscription_id IS NULL
      AND EXISTS (SELECT 1 FROM tenant t WHERE t.id = d.tenant_id AND t.webhook_failover_url IS NOT NULL))
  )) AS retries
  FROM outcome o CROSS JOIN LATERAL (
    SELECT subscription_id, tenant_id FROM webhook_delivery WHERE id = o.id LIMIT 1
  ) d
),
concluded AS (
  UPDATE webhook_delivery d
  SET status = CASE WHEN o.status = 'queued' AND NOT o.retries THEN 'failed' ELSE o.status END,
    attempt_no = CASE WHEN o."sentAt" IS NULL THEN d.attempt_no - 1 ELSE d.attempt_no END, in_lane = false,
    due_at = CASE WHEN o.retries THEN now() + o."retryAfterMs" * interval '1 millisecond' END,
    next_retry_at = CASE WHEN o.retries THEN now() + o."retryAfterMs" * interval '1 millisecond' END,
    response_status_code = CASE WHEN o."sentAt" IS NULL THEN d.response_status_code ELSE o."statusCode" END,
    response_body_snippet = CASE WHEN o."sentAt" IS NULL THEN d.response_body_snippet ELSE o."bodySnippet" END,
    error_message = o."errorMessage",
    sent_at = coalesce(to_timestamp(o."sentAt" / 1000.0), d.sent_at)
  FROM judged o
  WHERE d.id = ANY (ARRAY(SELECT id FROM outcome)) AND d.id = o.id AND d.status = 'sending' AND d.attempt_no = o."attemptNo"
  RETURNING d.event_id, d.status
)
SELECT DISTINCT event_id FROM concluded WHERE status = 'failed'
`

/**
 * Locks the events of deliveries that have just failed, in the same transaction: when two transactions fail the last
 * two deliveries of one event, the second sees both. `$1`: event ids.
 */
export const lockEvents = `SELECT id FROM event WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE`

/**
 * Makes the failover delivery, once, of each event whose deliveries have all failed and that is fully fanned out. One
 * that was overtaken has not failed, because a newer event replaces it. `$1`: event ids, locked. Returns the endpoints
 * to wake.
 */
export const failOver = `
WITH made AS (
  INSERT INTO webhook_delivery (id, tenant_id, partition, event_id, event_type, subscription_id, destination, lane, sequence,
    status, due_at, created_at)
  SELECT ${DeliveryId.sql({ event: "e.id", occurredAt: "e.occurred_at", endpoint: "'failover:' || e.tenant_id" })},
    e.tenant_id, e.partition, e.id, e.type, NULL, 'failover:' || e.tenant_id, coalesce(e.lane, e.entity_id), e.sequence, 'queued',
    now(), now()
  FROM event e JOIN tenant t ON t.id = e.tenant_id AND t.webhook_failover_url IS NOT NULL
  WHERE e.id = ANY ($1::uuid[])
    AND NOT EXISTS (SELECT 1 FROM webhook_delivery d
      WHERE d.event_id = e.id AND (d.status <> 'failed' OR d.error_message = '${Overtaken.message}'))
    AND NOT EXISTS (SELECT 1 FROM webhook_fan_out f WHERE f.event_id = e.id)
  ORDER BY e.entity_id, e.sequence
  ON CONFLICT (event_id, destination) DO NOTHING
  RETURNING destination AS endpoint, tenant_id, partition
)
SELECT DISTINCT endpoint, tenant_id, partition FROM made
`

/**
 * Makes interrupted attempts due at once, because no process works on them. `$1`: a partition; `$2`: an endpoint there,
 * or null for all. It takes only rows that were claimed before it began, so it may end late. Unfinished rows are in one
 * of two indexes, the lanes or the retries, and each arm uses one of them.
 */
export const release = `
WITH ${["d.in_lane", "NOT d.in_lane"]
  .map(
    (arm, index) => `
part_${index} AS (
  UPDATE webhook_delivery d SET due_at = created_at
  WHERE ${arm} AND d.due_at IS NOT NULL AND d.partition = $1::int
    AND d.due_at > d.created_at AND d.due_at <= now() + ${leaseMs} * interval '1 millisecond'
    AND d.status = 'sending' AND ($2::text IS NULL OR d.destination = $2)
)`
  )
  .join(",")}
SELECT 1`
