import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import * as Supervised from "../actor/Supervised.ts"
import * as Monotonic from "../domain/Monotonic.ts"

/** This process does not hold the partition (any more): nothing may be written there. */
export class JournalLost extends Schema.TaggedError<JournalLost>()("JournalLost", {
  partition: Schema.Number,
  /** The epoch under which this process held it; null: it never did. */
  epoch: Schema.NullOr(Schema.Number)
}) {
  override get message() {
    return this.epoch === null
      ? `this process does not hold partition ${this.partition} of the journal`
      : `another process took partition ${this.partition} of the journal over (this one held epoch ${this.epoch})`
  }
}

/** How long the heartbeat of a dead process stands, at most, while its calls wait for recovery. */
const recoveryMs = 60_000

interface Taken {
  readonly epoch: number
  /** The partition's time now, and at the last sign of life of the previous process. */
  readonly time: number
  readonly alive: number | null
  /** Now, by the database's clock. */
  readonly at: number
}

/** The partitions of the journal that this process holds, each under the epoch that it raised. */
export interface Ownership {
  /** Partition to epoch. */
  readonly held: ReadonlyMap<number, number>
  /** How far its time is ahead of the monotonic clock, in milliseconds. */
  readonly originMs: (partition: number) => number
  /** The last sign of life of the previous holder, in the time of the partition; null when nobody held it. */
  readonly lastHeartbeatAt: (partition: number) => number | null
  /** The entities of a dead process have been told: from now on our own heartbeat counts. */
  readonly recovered: (partition: number) => void
  /** Gives a partition up, once; returns the error of which its commits die. */
  readonly lose: (partition: number) => JournalLost
  /** The error of which commits die when no partition is held any more; null: none was lost. */
  readonly lastLoss: () => JournalLost | null
}

/**
 * Raises the epoch of each partition, which waits until no statement of an older epoch is under way. Then it gives
 * signs of life until the scope closes; each of them also checks that the partitions are still held.
 */
export const take = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  options: {
    readonly partitions: ReadonlyArray<number>
    readonly heartbeatMs: number
    readonly onLost: (lost: JournalLost) => void
  }
) {
  const takenAt = yield* Monotonic.now
  const held = new Map<number, number>()
  const lost = new Map<number, JournalLost>()
  const recovered = new Set<number>()
  const taken = new Map<number, { readonly originMs: number; readonly aliveMs: number | null; readonly at: number }>()

  // One after the other, in order, so that two processes that take the same partitions never wait for each other.
  for (const partition of options.partitions.toSorted((one, other) => one - other)) {
    yield* sql`INSERT INTO journal_owner (partition, epoch) VALUES (${partition}, 0) ON CONFLICT DO NOTHING`
    // Only the database's clock can tell what passed since the last heartbeat; somebody may have set it back meanwhile.
    const [row] = yield* sql<Taken>`
      UPDATE journal_owner SET epoch = epoch + 1, heartbeat_at = clock_timestamp(),
        time_ms = coalesce(time_ms + greatest(0, extract(epoch FROM clock_timestamp() - heartbeat_at) * 1000),
          extract(epoch FROM clock_timestamp()) * 1000),
        alive_ms = coalesce(alive_ms, extract(epoch FROM heartbeat_at) * 1000)
      WHERE partition = ${partition}
      RETURNING epoch::int AS epoch, time_ms AS time, alive_ms AS alive,
        (extract(epoch FROM heartbeat_at) * 1000)::float8 AS at`
    if (row === undefined) return yield* Effect.die(new Error(`journal_owner has no row for partition ${partition}`))
    held.set(partition, row.epoch)
    taken.set(partition, { originMs: row.time - (yield* Monotonic.now), aliveMs: row.alive, at: row.at })
  }

  /** Answers for a lost partition too: its actors may still look at the time. */
  const originMs = (partition: number): number => taken.get(partition)?.originMs ?? 0

  const lose = (partition: number): JournalLost => {
    const known = lost.get(partition)
    if (known !== undefined) return known
    const epoch = held.get(partition)
    const error = new JournalLost({ partition, epoch: epoch ?? null })
    if (epoch === undefined) return error
    held.delete(partition)
    lost.set(partition, error)
    options.onLost(error)
    return error
  }

  /**
   * Says that this process lives, and what time it is in each partition. Calls that a dead process left are billed to
   * its last sign of life, even when this process dies before it told them: that sign stands until they have been
   * rebuilt.
   */
  const beat = Effect.gen(function* () {
    const now = yield* Monotonic.now
    const asked = [...held]
    const beats = asked.map(([partition, epoch]) => ({
      partition,
      epoch,
      time: now + originMs(partition),
      taken: (taken.get(partition)?.at ?? 0) / 1000,
      recovering: now - takenAt < recoveryMs && !recovered.has(partition)
    }))
    // Locked in order, as a batch does.
    const ours = yield* sql<{ readonly partition: number }>`
      WITH beat AS MATERIALIZED (
        SELECT o.partition, h."time", h.taken, h.recovering
        FROM jsonb_to_recordset(${JSON.stringify(beats)}::jsonb)
          AS h(partition int, epoch bigint, "time" float8, taken float8, recovering boolean)
          JOIN journal_owner o ON o.partition = h.partition AND o.epoch = h.epoch
        ORDER BY o.partition FOR NO KEY UPDATE OF o
      )
      UPDATE journal_owner o SET heartbeat_at = clock_timestamp(), time_ms = h.time,
        alive_ms = CASE WHEN h.recovering AND EXISTS (
          SELECT 1 FROM entity e WHERE e.partition = o.partition AND e.kind = 'call' AND NOT e.settled
            AND e.updated_at < to_timestamp(h.taken)
        ) THEN o.alive_ms ELSE h.time END
      FROM beat h WHERE o.partition = h.partition RETURNING o.partition`
    for (const [partition] of asked) if (!ours.some((row) => row.partition === partition)) lose(partition)
  })
  yield* Supervised.fork(
    "the heartbeat of the journal",
    beat.pipe(
      Effect.ignore,
      Effect.andThen(Effect.sleep(options.heartbeatMs)),
      Effect.repeat({ while: () => held.size > 0 })
    )
  )

  const ownership: Ownership = {
    held,
    originMs,
    lastHeartbeatAt: (partition) => taken.get(partition)?.aliveMs ?? null,
    recovered: (partition) => void recovered.add(partition),
    lose,
    lastLoss: () => [...lost.values()].at(-1) ?? null
  }
  return ownership
})
