import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SubscriptionId, TenantId } from "../../domain/Id.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import * as Overtaken from "../claim/Overtaken.ts"
import { Journal } from "../../runtime/store/journal/Journal.ts"

/** SQL that makes a finished delivery wait again, outside of its lane and with all attempts ahead of it. */
export const again = `status = 'queued', attempt_no = 0, in_lane = false, due_at = now(), next_retry_at = NULL`

/** How many deliveries of the tenant one portion looks at. */
const portionSize = 1_000

/** The number of retries that may wait for an endpoint before the next portion is added. */
const backlogLimit = 1_000

/** How long a portion waits for a place among those retries, before others have their turn. */
const patienceMs = 5_000

export const kind = "webhook.redelivery"

/** `begunAt` distinguishes one redelivery of a subscription from the next, whose portions are numbered anew. */
export const keyOf = (id: SubscriptionId, startedAt: number, portion: number): string => `${id} ${startedAt} ${portion}`

export const keysOf = (id: SubscriptionId): string => `${id} `

const backlog = `
SELECT count(*) AS waiting FROM webhook_redelivery r JOIN tenant t ON t.id = r.tenant_id CROSS JOIN LATERAL (
  SELECT 1 FROM webhook_delivery d
  WHERE d.partition = t.partition AND d.tenant_id = r.tenant_id AND d.destination = r.subscription_id
    AND d.due_at IS NOT NULL AND NOT d.in_lane
  LIMIT ${backlogLimit}
) AS unfinished WHERE r.subscription_id = $1
`

/**
 * Makes the deliveries of one portion (`$2`) of a redelivery (`$1`: the subscription) again, and moves its position
 * after them. At its end, or when the subscription is no longer active, its row is deleted. Repeating a portion changes
 * nothing. `$3`: how many deliveries of the tenant it looks at, in the order in which they were made; 0: none.
 */
const portion = `
WITH task AS MATERIALIZED (
  SELECT r.*, t.partition, EXISTS (SELECT 1 FROM webhook_subscription s WHERE s.id = r.subscription_id AND s.is_active) AS is_active
  FROM webhook_redelivery r JOIN tenant t ON t.id = r.tenant_id
  WHERE r.subscription_id = $1 AND r.portions = $2::int FOR UPDATE OF r
),
looked AS MATERIALIZED (
  SELECT d.id, d.ordinal, d.created_at FROM task CROSS JOIN LATERAL (
    SELECT id, ordinal, created_at FROM webhook_delivery
    WHERE tenant_id = task.tenant_id AND ordinal > task.position ORDER BY ordinal LIMIT $3::int
  ) AS d WHERE task.is_active
),
ending AS MATERIALIZED (
  SELECT NOT task.is_active OR (SELECT count(*) FROM looked) < $3::int
    OR coalesce((SELECT min(created_at) FROM looked) > task.created_before + interval '1 minute', false) AS is_over
  FROM task
),
made AS (
  UPDATE webhook_delivery d SET ${again} FROM task
  WHERE d.id = ANY (ARRAY(SELECT id FROM looked)) AND d.destination = task.subscription_id AND d.status = task.status
    AND d.due_at IS NULL AND d.error_message IS DISTINCT FROM '${Overtaken.message}' AND d.created_at >= task.created_after AND d.created_at < task.created_before
  RETURNING 1
),
moved AS (
  UPDATE webhook_redelivery SET portions = portions + 1, position = greatest(position, (SELECT max(ordinal) FROM looked))
  WHERE subscription_id IN (SELECT subscription_id FROM task) AND NOT (SELECT is_over FROM ending)
),
done AS (
  DELETE FROM webhook_redelivery
  WHERE subscription_id IN (SELECT subscription_id FROM task) AND (SELECT is_over FROM ending)
)
SELECT task.tenant_id, task.partition, NOT ending.is_over AS more, (SELECT count(*) FROM made) AS made
FROM task CROSS JOIN ending
`

interface Portion {
  readonly tenantId: TenantId
  readonly partition: number
  readonly more: boolean
  readonly made: number
}

/**
 * The job that redelivers a range: a row for each portion, which puts the next one. So tenants take turns, and no more
 * than a thousand retries are added to those of an endpoint.
 */
export const declare = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const jobs = yield* Jobs

  const waiting = (id: string) =>
    Effect.map(sql.unsafe<{ readonly waiting: number }>(backlog, [id]), ([row]) => row?.waiting ?? 0)

  const hasPlace = Effect.fnUntraced(function* (id: string) {
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += 500) {
      if ((yield* waiting(id)) < backlogLimit) return true
      yield* Effect.sleep("500 millis")
    }
    return false
  })

  jobs.declare({
    kind,
    concurrency: 8,
    timeoutMs: 60_000,
    retry: { attempts: 20, firstMs: 1_000, maxMs: 600_000 },
    run: Effect.fnUntraced(function* ({ key, tenantId }) {
      const [id = "", startedAt = "", number = ""] = key.split(" ")
      const size = (yield* hasPlace(id)) ? portionSize : 0
      const done = yield* sql.withTransaction(
        Effect.gen(function* () {
          const [row] = yield* sql.unsafe<Portion>(portion, [id, number, size])
          const next = `${id} ${startedAt} ${Number(number) + 1}`
          if (row?.more === true) yield* jobs.enqueue({ kind, key: next, tenantId })
          return row
        })
      )
      if (done !== undefined && done.made > 0)
        yield* journal.wake([{ endpoint: id, tenantId: done.tenantId, partition: done.partition }])
    })
  })
})
