import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { EventId, TenantId } from "../../domain/Id.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import { Journal } from "../../runtime/store/journal/Journal.ts"
import { failOver } from "../attempt/OutcomeWriter.ts"

const portionSize = 1_000

const kind = "webhook.withdrawal"

/** Some waiting deliveries of `$1`, of one kind of unfinished rows. The order makes the statement read their index. */
const waiting = (arm: string, order: string) => `
  (SELECT d.id FROM webhook_delivery d
    WHERE d.partition = (SELECT partition FROM tenant WHERE id = $3::uuid) AND d.tenant_id = $3::uuid AND d.destination = $1
      AND d.due_at IS NOT NULL AND ${arm} AND d.status = 'queued' AND d.ordinal <= $4::bigint
    ORDER BY ${order} LIMIT (SELECT ${portionSize}))`

/**
 * Fails a portion of the waiting deliveries of a subscription (`$1`) of a tenant (`$3`), because of `$2`, up to the
 * ordinal `$4`; an attempt under way ends with its outcome. Returns the events concerned.
 */
const portion = `
WITH found AS MATERIALIZED (
  SELECT id FROM (
    ${waiting("d.in_lane", "d.lane, d.sequence, d.ordinal")} UNION ALL ${waiting("NOT d.in_lane", "d.due_at, d.ordinal")}
  ) both_kinds LIMIT ${portionSize}
),
failed AS (
  UPDATE webhook_delivery d SET status = 'failed', due_at = NULL, next_retry_at = NULL, error_message = $2
  WHERE d.id = ANY (ARRAY(SELECT id FROM found)) AND d.status = 'queued' AND d.due_at IS NOT NULL
  RETURNING d.event_id
)
SELECT (SELECT count(*) FROM found) = ${portionSize} AS more,
  coalesce((SELECT jsonb_agg(DISTINCT event_id) FROM failed), '[]') AS event_ids
`

const newest = `
SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('webhook_delivery', 'ordinal')::regclass), 0)::text AS ordinal
`

interface Portion {
  readonly more: boolean
  readonly eventIds: ReadonlyArray<EventId>
}

interface Withdrawal {
  readonly tenantId: TenantId
  readonly id: string
  readonly because: string
  /**
   * The ordinal of the newest delivery at the time of the change. Later ones, made when the subscription is enabled
   * again, are not withdrawn.
   */
  readonly upTo: string
  /** The number of the portion, which distinguishes its job row from the others. */
  readonly number: number
}

const keyOf = ({ because, id, number, upTo }: Withdrawal): string => `${id} ${upTo} ${number} ${because}`

/**
 * Fails the waiting deliveries of a subscription that is disabled or deleted. A thousand of them fail with the change
 * itself, and a job fails the others, portion by portion, so that the duration of the change does not depend on their
 * number. Until then they are not delivered either, because a claim finds no active subscription.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  const jobs = yield* Jobs

  /** Runs inside a transaction. Gives the endpoints to wake. */
  const withdraw = Effect.fnUntraced(function* (of: Withdrawal) {
    const { because, id, tenantId, upTo } = of
    const [done] = yield* sql.unsafe<Portion>(portion, [id, because, tenantId, upTo])
    if (done?.more === true) yield* jobs.enqueue({ kind, key: keyOf({ ...of, number: of.number + 1 }), tenantId })
    return yield* failOver(sql, done?.eventIds ?? [])
  })

  jobs.declare({
    kind,
    concurrency: 4,
    timeoutMs: 60_000,
    retry: { attempts: 20, firstMs: 1_000, maxMs: 600_000 },
    run: Effect.fnUntraced(function* ({ key, tenantId }) {
      const [id = "", upTo = "", number = "", ...because] = key.split(" ")
      if (tenantId === null) return
      const of = { tenantId, id, because: because.join(" "), upTo, number: Number(number) }
      yield* journal.wake(yield* sql.withTransaction(withdraw(of)))
    })
  })

  /** Runs inside the transaction of the change. Gives the endpoints to wake. */
  return Effect.fnUntraced(function* (tenantId: TenantId, id: string, because: string) {
    const [row] = yield* sql.unsafe<{ readonly ordinal: string }>(newest)
    return yield* withdraw({ tenantId, id, because, upTo: row?.ordinal ?? "0", number: 0 })
  })
})
