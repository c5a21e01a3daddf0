import type * as Id from "../domain/Id.ts"
import * as DeliveryId from "../store/DeliveryId.ts"

/**
 * The statements on `webhook_delivery` as a queue: claim, outcome, what is due. All due times are the database's clock.
 */

/** Longer than an attempt can take (10 s), with its outcome written. A row whose lease ran out is claimed again. */
export const leaseMs = 30_000

/**
 * Due rows that one claim looks at for each endpoint, oldest first. A deeper backlog waits its turn, so that a claim
 * costs the same however long a receiver was down.
 */
const depth = 256

/** A claimed row with all that an attempt needs. */
export interface Delivery {
  readonly id: Id.DeliveryId
  /** Subscription id, or `failover:` and the tenant's id: the column `destination`. */
  readonly endpoint: string
  readonly eventId: Id.EventId
  /** This attempt, from 1; the same again when an attempt's outcome was lost. */
  readonly attemptNo: number
  /** The event's entity while this is the first try, else null. */
  readonly lane: Id.EntityId | null
  /** The stored envelope, the same bytes on every attempt. */
  readonly body: string
  /** Null with `sealedSecret`: subscription gone or inactive, or no failover URL any more. */
  readonly targetUrl: string | null
  readonly sealedSecret: string | null
}

/** A row of `claim`'s answer: `id` null for an endpoint that got nothing. */
export interface ClaimedRow extends Omit<Delivery, "id"> {
  readonly id: Id.DeliveryId | null
  /** Due rows seen, claimed or not. */
  readonly due: number
}

/**
 * Claims for many endpoints at once. `$1`: JSON array of `{ partition, endpoint, room, busyLanes, underWay }`; `$2`:
 * lease in milliseconds.
 *
 * The claim does not wait for the disk: when a crash of the database undoes it, the attempt is made again, like one
 * whose outcome was lost.
 *
 * A first try is eligible when it is the earliest due of its lane and the lane is not busy; a retry always is. A row
 * that is found `sending` repeats its attempt, because nobody knows what became of it.
 *
 * The planner never knows how deep a queue is now, so the text leaves it little choice: a limit that it cannot see
 * makes it read the index in order and stop, and an array of keys makes it lock by key.
 */
export const claim = `
WITH relaxed AS MATERIALIZED (
  SELECT set_config('synchronous_commit', 'off', true)
),
wanted AS MATERIALIZED (
  SELECT r.partition, r.endpoint, r.room, r."busyLanes" AS busy_lanes, r."underWay" AS under_way
  FROM jsonb_to_recordset($1::jsonb) AS r(partition int, endpoint text, room int, "busyLanes" text[], "underWay" uuid[])
),
due AS MATERIALIZED (
  SELECT w.room, w.busy_lanes, r.*,
    row_number() OVER (PARTITION BY r.endpoint, r.lane, r.is_first ORDER BY r.sequence, r.ordinal) AS place
  FROM wanted w CROSS JOIN LATERAL (
    SELECT d.id, d.destination AS endpoint, d.lane, d.sequence, d.ordinal, d.due_at,
      (d.attempt_no = 0 OR (d.attempt_no = 1 AND d.status = 'sending')) AS is_first
    FROM webhook_delivery d
    WHERE d.partition = w.partition AND d.destination = w.endpoint AND d.due_at <= now() AND d.id <> ALL (w.under_way)
    ORDER BY d.due_at, d.ordinal LIMIT (SELECT ${depth})
  ) r
),
seen AS (
  SELECT endpoint, count(*)::int AS due FROM due GROUP BY endpoint
),
eligible AS MATERIALIZED (
  SELECT id, room, row_number() OVER (PARTITION BY endpoint ORDER BY due_at, ordinal) AS turn
  FROM due WHERE NOT is_first OR (place = 1 AND lane <> ALL (busy_lanes))
),
locked AS MATERIALIZED (
  SELECT d.id FROM webhook_delivery d
  WHERE d.id = ANY (ARRAY(SELECT id FROM eligible WHERE turn <= room)) AND d.due_at <= now()
  FOR UPDATE SKIP LOCKED
),
claimed AS (
  UPDATE webhook_delivery d
  SET status = 'sending', attempt_no = CASE d.status WHEN 'sending' THEN d.attempt_no ELSE d.attempt_no + 1 END,
    due_at = now() + $2::int * interval '1 millisecond', next_retry_at = NULL
  FROM locked WHERE d.id = locked.id
  RETURNING d.id, d.tenant_id, d.destination AS endpoint, d.event_id, d.subscription_id, d.attempt_no, d.lane, d.ordinal
)
SELECT w.endpoint, coalesce(seen.due, 0) AS due, c.id, c.event_id AS "eventId", c.attempt_no AS "attemptNo",
  CASE WHEN c.attempt_no = 1 THEN c.lane END AS lane, e.body,
  coalesce(s.target_url, t.webhook_failover_url) AS "targetUrl",
  coalesce(s.signing_secret, t.webhook_failover_secret) AS "sealedSecret"
FROM relaxed CROSS JOIN wanted w LEFT JOIN seen ON seen.endpoint = w.endpoint
  LEFT JOIN claimed c ON c.endpoint = w.endpoint
  LEFT JOIN event e ON e.id = c.event_id
  LEFT JOIN webhook_subscription s ON s.id = c.subscription_id AND s.is_active
  LEFT JOIN tenant t ON t.id = c.tenant_id AND c.subscription_id IS NULL
ORDER BY c.ordinal
`

/** An endpoint with due rows: a row of `due`'s answer. */
export interface Due {
  readonly partition: number
  readonly endpoint: string
}

/** The outcome of an attempt, as the statements take it. */
export interface Outcome {
  readonly id: Id.DeliveryId
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
 * Writes many outcomes. `$1`: JSON array of `Outcome`. An outcome is written only to the attempt that it belongs to,
 * and a retry is made only where somebody still subscribes. Answers the events of deliveries that failed for good.
 *
 * Postgres keeps a plan that it made while the table was small; with a join, that plan would go on reading the whole
 * table. So the statement asks for rows one by one, and by an array of ids.
 */
export const conclude = `
WITH outcome AS MATERIALIZED (
  SELECT r.* FROM jsonb_to_recordset($1::jsonb) AS r(id uuid, "attemptNo" int, status text, "retryAfterMs" float8,
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
    attempt_no = CASE WHEN o."sentAt" IS NULL THEN d.attempt_no - 1 ELSE d.attempt_no END,
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
SELECT DISTINCT event_id AS "eventId" FROM concluded WHERE status = 'failed'
`

/**
 * Locks the events of deliveries that have just failed, in the same transaction: when two transactions fail the last
 * two deliveries of one event, the second sees both. `$1`: event ids.
 */
export const lockEvents = `SELECT id FROM event WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE`

/**
 * Makes the failover delivery, once, of each event whose deliveries have all failed. `$1`: event ids, locked. Answers
 * the endpoints to wake.
 */
export const failOver = `
WITH made AS (
  INSERT INTO webhook_delivery (id, tenant_id, partition, event_id, event_type, subscription_id, destination, lane, sequence,
    status, due_at, created_at)
  SELECT ${DeliveryId.sql({ event: "e.id", occurredAt: "e.occurred_at", endpoint: "'failover:' || e.tenant_id" })},
    e.tenant_id, e.partition, e.id, e.type, NULL, 'failover:' || e.tenant_id, e.entity_id, e.sequence, 'queued', now(), now()
  FROM event e JOIN tenant t ON t.id = e.tenant_id AND t.webhook_failover_url IS NOT NULL
  WHERE e.id = ANY ($1::uuid[])
    AND NOT EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.event_id = e.id AND d.status <> 'failed')
  ORDER BY e.entity_id, e.sequence
  ON CONFLICT (event_id, destination) DO NOTHING
  RETURNING destination AS endpoint, tenant_id, partition
)
SELECT DISTINCT endpoint, tenant_id AS "tenantId", partition FROM made
`

/**
 * Fails what waits for a subscription that is deactivated or deleted; an attempt that is under way ends with its
 * outcome. `$1`: subscription id; `$2`: why; `$3`: its tenant. Answers the events concerned.
 */
export const withdraw = `
UPDATE webhook_delivery SET status = 'failed', due_at = NULL, next_retry_at = NULL, error_message = $2
WHERE partition = (SELECT partition FROM tenant WHERE id = $3::uuid) AND destination = $1 AND due_at IS NOT NULL
  AND status = 'queued'
RETURNING event_id AS "eventId"
`

/**
 * Makes interrupted attempts due at once, ahead of what was committed after them, because nobody works on them. `$1`: a
 * partition; `$2`: an endpoint there, or null for all.
 */
export const release = `
UPDATE webhook_delivery SET due_at = created_at
WHERE partition = $1::int AND due_at > created_at AND status = 'sending' AND ($2::text IS NULL OR destination = $2)
`

/**
 * After the database's clock was set back: makes deliveries of a partition (`$1`) due `$2` milliseconds sooner, so that
 * none waits longer than it had to. A delivery that was put there since comes too soon, which is better than hours
 * late.
 */
export const advance = `
UPDATE webhook_delivery SET due_at = due_at - $2::float8 * interval '1 millisecond',
  next_retry_at = next_retry_at - $2::float8 * interval '1 millisecond'
WHERE partition = $1::int AND due_at > now()
`

/**
 * Endpoints of a partition (`$1`) with due rows, longest due first; at most `$2`. Steps through the index of
 * unfinished rows from one endpoint to the next, so that a long backlog costs no more than a short one.
 */
export const due = `
WITH RECURSIVE unfinished AS (
  (SELECT destination FROM webhook_delivery
    WHERE partition = $1::int AND due_at IS NOT NULL ORDER BY destination LIMIT 1)
  UNION ALL
  SELECT (SELECT d.destination FROM webhook_delivery d
    WHERE d.partition = $1::int AND d.due_at IS NOT NULL AND d.destination > u.destination ORDER BY d.destination LIMIT 1)
  FROM unfinished u WHERE u.destination IS NOT NULL
)
SELECT $1::int AS partition, u.destination AS endpoint FROM unfinished u CROSS JOIN LATERAL (
  SELECT d.due_at FROM webhook_delivery d
  WHERE d.partition = $1::int AND d.destination = u.destination AND d.due_at IS NOT NULL
  ORDER BY d.due_at LIMIT 1
) nearest
WHERE nearest.due_at <= now() ORDER BY nearest.due_at LIMIT $2::int
`
