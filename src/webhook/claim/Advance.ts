import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Step } from "./ClockSteps.ts"

/**
 * Used after the database's clock was set back by `$2` milliseconds: makes deliveries of a partition (`$1`) due that
 * much sooner, so that none waits longer than intended. A delivery that was queued after the change comes too soon,
 * which is better than hours late.
 */
const sooner = `due_at = d.due_at - $2::float8 * interval '1 millisecond',
  next_retry_at = d.next_retry_at - $2::float8 * interval '1 millisecond'`

/** In the lanes only claimed deliveries are due later than now, so these are few. */
const lanes = `
UPDATE webhook_delivery d SET ${sooner}
WHERE d.in_lane AND d.due_at IS NOT NULL AND d.partition = $1::int AND d.due_at > now()`

/**
 * One portion of the retries: `$7` of them after `$3` to `$6`, in the order of their index. A retry that becomes due
 * sooner moves back in that order, so none is met twice. Returns the last one with its values from before.
 */
const retries = `
WITH portion AS MATERIALIZED (
  SELECT id, tenant_id, destination, due_at, ordinal FROM webhook_delivery
  WHERE NOT in_lane AND due_at IS NOT NULL AND partition = $1::int
    AND (tenant_id, destination, due_at, ordinal) > ($3::uuid, $4::text, $5::timestamptz, $6::bigint)
  ORDER BY tenant_id, destination, due_at, ordinal LIMIT $7::int
),
moved AS (
  UPDATE webhook_delivery d SET ${sooner}
  FROM portion p
  WHERE d.id = ANY (ARRAY(SELECT id FROM portion)) AND d.id = p.id AND d.due_at = p.due_at AND d.due_at > now()
)
SELECT p.tenant_id, p.destination, p.due_at::text, p.ordinal::text FROM portion p
ORDER BY p.tenant_id DESC, p.destination DESC, p.due_at DESC, p.ordinal DESC LIMIT 1`

const portion = 1_000

/** A place in the order of the retries, as the texts of its columns. */
interface Place {
  readonly tenantId: string
  readonly destination: string
  readonly dueAt: string
  readonly ordinal: string
}
const start: Place = {
  tenantId: "00000000-0000-0000-0000-000000000000",
  destination: "",
  dueAt: "-infinity",
  ordinal: "0"
}

/** The progress of a partition's deliveries in following one step of the clock. */
interface Walk {
  readonly step: Step
  /** The retry after which the next portion begins; null: the lanes come first. */
  last: Place | null
}

/**
 * Moves the due times of a partition after the database's clock was set back, in portions, each a transaction. After a
 * failure it continues where it stopped. A process that takes the partition over begins again, so some deliveries come
 * too soon.
 */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const walks = new Map<number, Walk>()

  /** Completes with the step that all deliveries of its partition have followed, which may be an earlier one. */
  return Effect.fn("Advance.follow")(function* (wanted: Step) {
    const { partition } = wanted
    const walk: Walk = walks.get(partition) ?? { step: wanted, last: null }
    walks.set(partition, walk)
    const { backMs } = walk.step
    if (walk.last === null) yield* sql.withTransaction(sql.unsafe(lanes, [partition, backMs]))
    for (let last: Place | undefined = walk.last ?? start; last !== undefined;) {
      walk.last = last
      const behind = [last.tenantId, last.destination, last.dueAt, last.ordinal]
      const found: ReadonlyArray<Place> = yield* sql.withTransaction(
        sql.unsafe<Place>(retries, [partition, backMs, ...behind, portion])
      )
      last = found[0]
    }
    walks.delete(partition)
    return walk.step
  })
})
