import { newestOnly } from "../../domain/event/EventLane.ts"
import type * as Id from "../../domain/Id.ts"
import * as HeldPartitions from "../../runtime/store/owner/HeldPartitions.ts"
import * as Overtaken from "./Overtaken.ts"
import { relaxed } from "./Relaxed.ts"

export interface Wanted {
  readonly partition: number
  readonly tenantId: Id.TenantId
  readonly endpoint: string
  readonly capacity: number
  /**
   * The lane that was served last. The search continues after it, and then from the beginning. Empty: none was served.
   */
  readonly after: string
  readonly underWay: ReadonlyArray<Id.DeliveryId>
}

/** A claimed row with everything that an attempt needs. */
export interface Delivery {
  readonly id: Id.DeliveryId
  readonly tenantId: Id.TenantId
  /** The column `destination`: a subscription id, or `failover:` and the tenant's id. */
  readonly endpoint: string
  readonly eventId: Id.EventId
  /** The number of this attempt, from 1. It is repeated when an attempt's outcome was lost. */
  readonly attemptNo: number
  /** The event's lane; null: this is a retry. */
  readonly lane: string | null
  /** The stored envelope; every attempt sends the same bytes. */
  readonly body: string
  /** Null, with `sealedSecret`: the subscription is gone or inactive, or there is no failover URL any more. */
  readonly targetUrl: string | null
  readonly sealedSecret: string | null
  /** One of the endpoint's attempts failed, and none has succeeded since. */
  readonly isFailing: boolean
}

/** A row that `claim` returns; `id` is null for an endpoint that got nothing. */
export interface ClaimedRow extends Omit<Delivery, "id"> {
  readonly id: Id.DeliveryId | null
  /** True when the endpoint has waiting rows that were not claimed. */
  readonly more: boolean
}

/** How many deliveries of one lane a claim drops at most; the next claim drops the others. */
const mostOvertaken = 256

/** SQL that is true of the unfinished first attempts in the lane of a row. */
const inLaneOf = (of: string) =>
  `d.partition = ${of}.partition AND d.tenant_id = ${of}.tenant_id AND d.destination = ${of}.endpoint
      AND d.lane = ${of}.lane AND d.due_at IS NOT NULL AND d.in_lane`

/** How many lanes one claim looks at for each endpoint: those under way, and as many again as there are places. */
const lanes = 48

/**
 * The nearest lane of `of` after its last one, and the first row there; after the end it continues from the beginning.
 */
const nextLane = (of: string) => {
  const first = (where: string, wrapped: string) => `
    (SELECT d.id, d.lane, d.sequence, d.ordinal, d.due_at, ${wrapped} AS wrapped FROM webhook_delivery d
      WHERE ${where} AND d.partition = ${of}.partition AND d.tenant_id = ${of}.tenant_id AND d.destination = ${of}.endpoint
        AND d.due_at IS NOT NULL AND d.in_lane
      ORDER BY d.lane, d.sequence, d.ordinal LIMIT (SELECT 1))`
  return `(
    ${first(`d.lane > ${of}.lane AND (NOT ${of}.wrapped OR d.lane <= ${of}.after)`, `${of}.wrapped`)}
    UNION ALL
    ${first(`NOT ${of}.wrapped AND d.lane <= ${of}.after`, "true")}
    LIMIT 1)`
}

/**
 * Claims for many endpoints at once. `$1`: JSON array of `Wanted`; `$2`: lease in milliseconds; `$3` and `$4`: the
 * partitions that this process holds (`HeldPartitions`). An endpoint of another partition gets nothing, and no row in
 * the result.
 *
 * The statement reads the first row of each lane, and retries in the order in which they are due; the two take turns.
 * The first row of a lane holds up the later ones until it has been attempted. However long a lane is, a claim reads no
 * more than `lanes` first rows. In a lane of which only the newest event counts, the newest row is claimed and the
 * others are dropped; a retry there is dropped when a newer row exists. A row that is found `sending` repeats its
 * attempt, because its outcome is unknown.
 *
 * The planner never knows the current depth of a queue, so the text leaves it little choice: a limit that it cannot see
 * makes it read the index in order and stop, and an array of keys makes it lock by key.
 */
export const claim = `
WITH RECURSIVE ${relaxed},${HeldPartitions.held("$3", "$4")},
wanted AS MATERIALIZED (
  SELECT r.partition, r."tenantId" AS tenant_id, r.endpoint, r.capacity, r.after, r."underWay" AS under_way,
    r.after AS lane, false AS wrapped
  FROM jsonb_to_recordset($1::jsonb)
    AS r(partition int, "tenantId" uuid, endpoint text, capacity int, after text, "underWay" uuid[])
  WHERE r.partition = ANY (ARRAY(SELECT partition FROM held))
),
heads AS (
  SELECT w.partition, w.tenant_id, w.endpoint, w.capacity, w.after, w.under_way, n.lane, n.wrapped, n.id, n.sequence, n.ordinal,
    due.is_due, 1 AS step, due.is_due::int AS found
  FROM wanted w CROSS JOIN LATERAL ${nextLane("w")} n
    CROSS JOIN LATERAL (SELECT n.due_at <= now() AND n.id <> ALL (w.under_way) AS is_due) due
  UNION ALL
  SELECT h.partition, h.tenant_id, h.endpoint, h.capacity, h.after, h.under_way, n.lane, n.wrapped, n.id, n.sequence, n.ordinal,
    due.is_due, h.step + 1, h.found + due.is_due::int
  FROM heads h CROSS JOIN LATERAL ${nextLane("h")} n
    CROSS JOIN LATERAL (SELECT n.due_at <= now() AND n.id <> ALL (h.under_way) AS is_due) due
  WHERE h.step < ${lanes} AND h.found < h.capacity
),
retries AS MATERIALIZED (
  SELECT w.endpoint, w.capacity, r.id, r.is_overtaken,
    row_number() OVER (PARTITION BY w.endpoint ORDER BY r.due_at, r.ordinal) AS place
  FROM wanted w CROSS JOIN LATERAL (
    SELECT d.id, d.due_at, d.ordinal, ${Overtaken.isRetry("d")} AS is_overtaken FROM webhook_delivery d
    WHERE d.partition = w.partition AND d.tenant_id = w.tenant_id AND d.destination = w.endpoint
      AND d.due_at <= now() AND NOT d.in_lane AND d.id <> ALL (w.under_way)
    ORDER BY d.due_at, d.ordinal LIMIT w.capacity + 1
  ) r
),
chosen AS MATERIALIZED (
  SELECT h.*, newest.sequence AS newest_sequence, newest.ordinal AS newest_ordinal, coalesce(newest.id, h.id) AS chosen_id
  FROM heads h LEFT JOIN LATERAL (
    SELECT d.id, d.sequence, d.ordinal FROM webhook_delivery d
    WHERE ${inLaneOf("h")} AND starts_with(h.lane, '${newestOnly}')
    ORDER BY d.lane DESC, d.sequence DESC, d.ordinal DESC LIMIT (SELECT 1)
  ) newest ON true
  WHERE h.is_due
),
overtaken AS MATERIALIZED (
  SELECT d.id FROM webhook_delivery d
  WHERE d.due_at IS NOT NULL AND d.id = ANY (ARRAY(
    SELECT id FROM retries WHERE is_overtaken
    UNION ALL
    SELECT older.id FROM chosen c CROSS JOIN LATERAL (
      SELECT d.id FROM webhook_delivery d
      WHERE ${inLaneOf("c")} AND (d.sequence, d.ordinal) < (c.newest_sequence, c.newest_ordinal) AND d.id <> ALL (c.under_way)
      ORDER BY d.lane, d.sequence, d.ordinal LIMIT (SELECT ${mostOvertaken})
    ) older
    WHERE c.chosen_id <> c.id))
  FOR UPDATE SKIP LOCKED
),
dropped AS (
  UPDATE webhook_delivery d
  SET status = 'failed', due_at = NULL, next_retry_at = NULL, error_message = '${Overtaken.message}'
  FROM overtaken WHERE d.id = overtaken.id
),
eligible AS MATERIALIZED (
  SELECT endpoint, capacity, id, row_number() OVER (PARTITION BY endpoint ORDER BY place, is_retry) AS turn
  FROM (
    SELECT endpoint, capacity, chosen_id AS id, found AS place, false AS is_retry FROM chosen
    UNION ALL SELECT endpoint, capacity, id, place, true FROM retries WHERE NOT is_overtaken
  ) both_kinds
),
left_behind AS (
  SELECT endpoint, true AS more FROM eligible WHERE turn > capacity
  UNION SELECT endpoint, true FROM retries WHERE is_overtaken AND place > capacity
  UNION SELECT endpoint, true FROM heads WHERE step = ${lanes} OR (found = capacity AND is_due)
  UNION SELECT h.endpoint, true FROM heads h CROSS JOIN LATERAL (
    SELECT FROM webhook_delivery f
    WHERE f.partition = h.partition AND f.tenant_id = h.tenant_id AND f.destination = h.endpoint AND f.lane = h.lane
      AND (f.sequence, f.ordinal) > (h.sequence, h.ordinal) AND f.due_at IS NOT NULL AND f.in_lane
    LIMIT (SELECT 1)
  ) follower
),
locked AS MATERIALIZED (
  SELECT d.id FROM webhook_delivery d
  WHERE d.id = ANY (ARRAY(SELECT id FROM eligible WHERE turn <= capacity)) AND d.due_at <= now()
  FOR UPDATE SKIP LOCKED
),
claimed AS (
  UPDATE webhook_delivery d
  SET status = 'sending', attempt_no = CASE d.status WHEN 'sending' THEN d.attempt_no ELSE d.attempt_no + 1 END,
    due_at = now() + $2::int * interval '1 millisecond', next_retry_at = NULL
  FROM locked WHERE d.id = locked.id
  RETURNING d.id, d.tenant_id, d.destination AS endpoint, d.event_id, d.subscription_id, d.attempt_no, d.in_lane, d.lane
)
SELECT w.endpoint, w.tenant_id, coalesce(b.more, false) AS more, c.id, c.event_id, c.attempt_no,
  CASE WHEN c.in_lane THEN c.lane END AS lane, e.body, coalesce(s.target_url, t.webhook_failover_url) AS target_url,
  coalesce(s.signing_secret, t.webhook_failover_secret) AS sealed_secret, s.failing_since IS NOT NULL AS is_failing
FROM relaxed CROSS JOIN wanted w LEFT JOIN left_behind b ON b.endpoint = w.endpoint
  LEFT JOIN claimed c ON c.endpoint = w.endpoint
  LEFT JOIN eligible i ON i.id = c.id
  LEFT JOIN event e ON e.id = c.event_id
  LEFT JOIN webhook_subscription s ON s.id = c.subscription_id AND s.is_active
  LEFT JOIN tenant t ON t.id = c.tenant_id AND c.subscription_id IS NULL
ORDER BY i.turn
`
