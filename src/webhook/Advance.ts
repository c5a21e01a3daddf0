import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * After the database's clock was set back by `$2` milliseconds: makes deliveries of a partition (`$1`) due as much
 * sooner, so that none waits longer than it had to. A delivery that was put there since comes too soon, which is better
 * than hours late.
 */
const sooner = `due_at = d.due_at - $2::float8 * interval '1 millisecond',
  next_retry_at = d.next_retry_at - $2::float8 * interval '1 millisecond'`

/** In the lanes only what is claimed is due later than now, so these are few. */
const lanes = `
UPDATE webhook_delivery d SET ${sooner}
WHERE d.in_lane AND d.due_at IS NOT NULL AND d.partition = $1::int AND d.due_at > now()`

/**
 * One portion of the retries: `$7` of them behind `$3` to `$6`, in the order of their index. A retry that is due sooner moves
 * back in that order, so none is met twice. Answers the last one as it stood before.
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
SELECT tenant_id::text AS "tenantId", destination, due_at::text AS "dueAt", ordinal::text FROM portion
ORDER BY tenant_id DESC, destination DESC, due_at DESC, ordinal DESC LIMIT 1`

const portion = 1_000

/** A place in the order of the retries, by the texts of its columns. */
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

/** How far the deliveries have followed one step of the clock. */
interface Walk {
  readonly backMs: number
  partitions: ReadonlyArray<number>
  /** Behind which retry of the first of `partitions` the next portion begins; null: its lanes come first. */
  last: Place | null
}

/**
 * Lets the deliveries follow the database's clock that was set back, in portions, each a transaction. What failed goes
 * on where it stopped.
 */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  let walk: Walk | null = null

  const next = Effect.fnUntraced(function* (present: Walk, partition: number) {
    if (present.last === null) {
      yield* sql.withTransaction(sql.unsafe(lanes, [partition, present.backMs]))
      present.last = start
    }
    const { dueAt, destination, ordinal, tenantId } = present.last
    const [last] = yield* sql.withTransaction(
      sql.unsafe<Place>(retries, [partition, present.backMs, tenantId, destination, dueAt, ordinal, portion])
    )
    if (last === undefined) present.partitions = present.partitions.slice(1)
    present.last = last ?? null
  })

  /** Completes with the milliseconds that all deliveries of these partitions have followed. */
  return Effect.fn("Advance.follow")(function* (partitions: ReadonlyArray<number>, backMs: number) {
    const present = (walk ??= { backMs, partitions, last: null })
    for (let [partition] = present.partitions; partition !== undefined; [partition] = present.partitions)
      yield* next(present, partition)
    walk = null
    return present.backMs
  })
})
