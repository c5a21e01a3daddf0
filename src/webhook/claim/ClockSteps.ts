import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { Journal } from "../../runtime/store/journal/Journal.ts"

/** A smaller difference is drift, or comes from the time of the answer. */
const steppedMs = 5_000

/** Drift is stored when it exceeds this. */
const keptMs = 1_000

/** A slower answer is not used, because it does not show what the clock is. */
const promptMs = 1_000

/** The deliveries of a partition are due `backMs` milliseconds too late. */
export interface Step {
  readonly partition: number
  readonly backMs: number
}

/**
 * Reports by how much the database's clock, which due times follow, was set back since the deliveries of each partition
 * last followed it. It is measured against the time of the partition (src/runtime/README.md#time).
 *
 * The offset that the deliveries have followed is stored with the partition. So they also follow when the clock was set
 * back while another process held the partition and died of it, or while no process held it. In that case they are a
 * little late, because the time without an owner is measured by that clock. A clock that is set forward makes no
 * delivery wait.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const journal = yield* Journal
  /** How far the clock is ahead of each partition's time: the offset that its deliveries follow, and the stored one. */
  const known = new Map<number, { aheadMs: number; writtenMs: number | null }>()

  const read = Effect.fnUntraced(function* (partition: number, aheadMs: number) {
    const present = known.get(partition)
    if (present !== undefined) return present
    const [row] = yield* sql<{ readonly writtenMs: number | null }>`
      SELECT deliveries_ahead_ms AS written_ms FROM journal_owner WHERE partition = ${partition}`
    const writtenMs = row?.writtenMs ?? null
    const first = { aheadMs: writtenMs ?? aheadMs, writtenMs }
    known.set(partition, first)
    return first
  })

  const write = Effect.fnUntraced(function* (partition: number, aheadMs: number) {
    yield* sql`UPDATE journal_owner SET deliveries_ahead_ms = ${aheadMs}
      WHERE partition = ${partition} AND epoch = ${journal.epoch(partition)}`
    known.set(partition, { aheadMs, writtenMs: aheadMs })
  })

  /** The steps that the deliveries have not followed yet. */
  const steps = Effect.gen(function* () {
    const found: Array<Step> = []
    const asked = yield* Monotonic.now
    const [row] = yield* sql<{
      readonly at: number
    }>`SELECT clock_timestamp() AS at`
    const answered = yield* Monotonic.now
    if (row === undefined || answered - asked > promptMs) return found
    for (const partition of journal.partitions()) {
      const aheadMs = row.at - answered - journal.originMs(partition)
      const before = yield* read(partition, aheadMs)
      const backMs = before.aheadMs - aheadMs
      if (backMs > steppedMs) found.push({ partition, backMs })
      else {
        before.aheadMs = aheadMs
        if (before.writtenMs === null || Math.abs(before.writtenMs - aheadMs) > keptMs) yield* write(partition, aheadMs)
      }
    }
    return found
  })

  return {
    steps,
    /** Stores that the deliveries have followed this step. */
    followed: ({ backMs, partition }: Step) =>
      Effect.suspend(() => write(partition, (known.get(partition)?.aheadMs ?? 0) - backMs))
  }
})
