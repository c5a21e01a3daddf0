import type * as Id from "../../domain/Id.ts"
import * as HeldPartitions from "../../runtime/store/owner/HeldPartitions.ts"
import { relaxed } from "./Relaxed.ts"

/** What one endpoint asks of a claim. */
export interface Wanted {
  readonly partition: number
  readonly tenantId: Id.TenantId
  readonly endpoint: string
  /** How many deliveries it takes at most. */
  readonly room: number
  /** The lane that was served last: the search goes on behind it, and then from the beginning. Empty: none was. */
  readonly after: string
  readonly underWay: ReadonlyArray<Id.DeliveryId>
}

/** A claimed row with all that an attempt needs. */
export interface Delivery {
  readonly id: Id.DeliveryId
  readonly tenantId: Id.TenantId
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
  /** Its endpoint has had no success since one of its attempts failed. */
  readonly isFailing: boolean
}

/** A row of `claim`'s answer: `id` null for an endpoint that got nothing. */
export interface ClaimedRow extends Omit<Delivery, "id"> {
  readonly id: Id.DeliveryId | null
  /** Something waits there that was not claimed. */
  readonly more: boolean
}

/** Lanes that one claim looks at for each endpoint: those under way, and as many again as there are places. */
const lanes = 48

/** The nearest lane of `of` behind its last one, and the first row there; at the end it goes on from the beginning. */
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
 * Claims for many endpoints at once. `$1`: JSON array of `Wanted`; `$2`: lease in milliseconds; `$3` and `$4`: what this
 * process holds (`HeldPartitions`). An endpoint of another partition gets nothing, and no row of the answer.
 *
 * It looks at the first row of each lane, and at retries in the order in which they are due; the two take turns. The
 * first row of a lane holds up those behind it until it has been tried. However long a line is, a claim reads no more
 * than `lanes` of its heads. A row that is found `sending` repeats its attempt, because nobody knows what became of it.
 *
 * The planner never knows how deep a queue is now, so the text leaves it little choice: a limit that it cannot see
 * makes it read the index in order and stop, and an array of keys makes it lock by key.
 */
export const claim = `
WITH RECURSIVE ${relaxed},${HeldPartitions.held("$3", "$4")},
wanted AS MATERIALIZED (
  SELECT r.partition, r."tenantId" AS tenant_id, r.endpoint, r.room, r.after, r."underWay" AS under_way,
    r.after AS lane, false AS wrapped
  FROM jsonb_to_recordset($1::jsonb)
    AS r(partition int, "tenantId" uuid, endpoint text, room int, after text, "underWay" uuid[])
  WHERE r.partition = ANY (ARRAY(SELECT partition FROM held))
),
heads AS (
  SELECT w.partition, w.tenant_id, w.endpoint, w.room, w.after, w.under_way, n.lane, n.wrapped, n.id, n.sequence, n.ordinal,
    due.is_due, 1 AS step, due.is_due::int AS found
  FROM wanted w CROSS JOIN LATERAL ${nextLane("w")} n
    CROSS JOIN LATERAL (SELECT n.due_at <= now() AND n.id <> ALL (w.under_way) AS is_due) due
  UNION ALL
  SELECT h.partition, h.tenant_id, h.endpoint, h.room, h.after, h.under_way, n.lane, n.wrapped, n.id, n.sequence, n.ordinal,
    due.is_due, h.step + 1, h.found + due.is_due::int
  FROM heads h CROSS JOIN LATERAL ${nextLane("h")} n
    CROSS JOIN LATERAL (SELECT n.due_at <= now() AND n.id <> ALL (h.under_way) AS is_due) due
  WHERE h.step < ${lanes} AND h.found < h.room
),
retries AS MATERIALIZED (
  SELECT w.endpoint, w.room, r.id, row_number() OVER (PARTITION BY w.endpoint ORDER BY r.due_at, r.ordinal) AS place
  FROM wanted w CROSS JOIN LATERAL (
    SELECT d.id, d.due_at, d.ordinal FROM webhook_delivery d
    WHERE d.partition = w.partition AND d.tenant_id = w.tenant_id AND d.destination = w.endpoint
      AND d.due_at <= now() AND NOT d.in_lane AND d.id <> ALL (w.under_way)
    ORDER BY d.due_at, d.ordinal LIMIT w.room + 1
  ) r
),
eligible AS MATERIALIZED (
  SELECT endpoint, room, id, row_number() OVER (PARTITION BY endpoint ORDER BY place, is_retry) AS turn
  FROM (
    SELECT endpoint, room, id, found AS place, false AS is_retry FROM heads WHERE is_due
    UNION ALL SELECT endpoint, room, id, place, true FROM retries
  ) both_kinds
),
left_behind AS (
  SELECT endpoint, true AS more FROM eligible WHERE turn > room
  UNION SELECT endpoint, true FROM heads WHERE step = ${lanes} OR (found = room AND is_due)
  UNION SELECT h.endpoint, true FROM heads h CROSS JOIN LATERAL (
    SELECT FROM webhook_delivery f
    WHERE f.partition = h.partition AND f.tenant_id = h.tenant_id AND f.destination = h.endpoint AND f.lane = h.lane
      AND (f.sequence, f.ordinal) > (h.sequence, h.ordinal) AND f.due_at IS NOT NULL AND f.in_lane
    LIMIT (SELECT 1)
  ) follower
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
  RETURNING d.id, d.tenant_id, d.destination AS endpoint, d.event_id, d.subscription_id, d.attempt_no, d.in_lane, d.lane
)
SELECT w.endpoint, w.tenant_id AS "tenantId", coalesce(b.more, false) AS more, c.id, c.event_id AS "eventId",
  c.attempt_no AS "attemptNo", CASE WHEN c.in_lane THEN c.lane END AS lane, e.body,
  coalesce(s.target_url, t.webhook_failover_url) AS "targetUrl",
  coalesce(s.signing_secret, t.webhook_failover_secret) AS "sealedSecret",
  s.failing_since IS NOT NULL AS "isFailing"
FROM relaxed CROSS JOIN wanted w LEFT JOIN left_behind b ON b.endpoint = w.endpoint
  LEFT JOIN claimed c ON c.endpoint = w.endpoint
  LEFT JOIN eligible i ON i.id = c.id
  LEFT JOIN event e ON e.id = c.event_id
  LEFT JOIN webhook_subscription s ON s.id = c.subscription_id AND s.is_active
  LEFT JOIN tenant t ON t.id = c.tenant_id AND c.subscription_id IS NULL
ORDER BY i.turn
`
