import { Clock, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"

/** This process does not hold the partition (any more): nothing may be written there. */
export class JournalLost extends Schema.TaggedError<JournalLost>()("JournalLost", {
  partition: Schema.Number,
  /** Under which it was held; null: never. */
  epoch: Schema.NullOr(Schema.Number)
}) {
  override get message() {
    return this.epoch === null
      ? `this process does not hold partition ${this.partition} of the journal`
      : `another process took partition ${this.partition} of the journal over (this one held epoch ${this.epoch})`
  }
}

/** How long the heartbeat of a dead process stands at most while its calls wait for recovery. */
const recoveryMs = 60_000

/** The partitions of the journal that this process holds, each under the epoch that it raised. */
export interface Ownership {
  /** Partition to epoch. */
  readonly held: ReadonlyMap<number, number>
  /** The last sign of life of the one who held the partition before; epoch ms, null when nobody did. */
  readonly lastHeartbeatAt: (partition: number) => number | null
  /** Gives a partition up, once; answers what its commits die of. */
  readonly lose: (partition: number) => JournalLost
  /** What commits die of when no partition is held any more; null: none was lost. */
  readonly lastLoss: () => JournalLost | null
}

/**
 * Raises the epoch of each partition, which waits until no statement of an older epoch is under way, and gives signs of
 * life until the scope closes; each also looks whether the partitions are still held.
 */
export const take = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  options: {
    readonly partitions: ReadonlyArray<number>
    readonly heartbeatMs: number
    readonly onLost: (lost: JournalLost) => void
  }
) {
  const takenAt = yield* Clock.currentTimeMillis
  const held = new Map<number, number>()
  const lost = new Map<number, JournalLost>()
  const heartbeats = new Map<number, number | null>()

  // One after the other, in their order: two processes that take the same ones never wait for each other.
  for (const partition of options.partitions.toSorted((one, other) => one - other)) {
    yield* sql`INSERT INTO journal_owner (partition, epoch) VALUES (${partition}, 0) ON CONFLICT DO NOTHING`
    const [row] = yield* sql<{ readonly epoch: number; readonly heartbeat: number | null }>`
      UPDATE journal_owner SET epoch = epoch + 1 WHERE partition = ${partition}
      RETURNING epoch::int AS epoch, (extract(epoch FROM heartbeat_at) * 1000)::float8 AS heartbeat`
    if (row === undefined) return yield* Effect.die(new Error(`journal_owner has no row for partition ${partition}`))
    held.set(partition, row.epoch)
    heartbeats.set(partition, row.heartbeat)
  }

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

  /** What a dead process left is billed to its last heartbeat, also when this process dies before it was told. */
  const beat = Effect.gen(function* () {
    const recovering = (yield* Clock.currentTimeMillis) - takenAt < recoveryMs
    const asked = [...held]
    const ours = yield* sql<{ readonly partition: number }>`
      UPDATE journal_owner o SET heartbeat_at = CASE WHEN ${recovering}::boolean AND EXISTS (
        SELECT 1 FROM entity e WHERE e.partition = o.partition AND e.kind = 'call' AND NOT e.settled
          AND e.updated_at < to_timestamp(${takenAt / 1000}::float8)
      ) THEN o.heartbeat_at ELSE now() END
      FROM jsonb_to_recordset(${JSON.stringify(asked.map(([partition, epoch]) => ({ partition, epoch })))}::jsonb)
        AS h(partition int, epoch bigint)
      WHERE o.partition = h.partition AND o.epoch = h.epoch RETURNING o.partition`
    for (const [partition] of asked) if (!ours.some((row) => row.partition === partition)) lose(partition)
  })
  yield* beat.pipe(
    Effect.ignore,
    Effect.andThen(Effect.sleep(options.heartbeatMs)),
    Effect.repeat({ while: () => held.size > 0 }),
    Effect.forkScoped
  )

  const ownership: Ownership = {
    held,
    lastHeartbeatAt: (partition) => heartbeats.get(partition) ?? null,
    lose,
    lastLoss: () => [...lost.values()].at(-1) ?? null
  }
  return ownership
})
