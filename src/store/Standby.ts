import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CommitClient } from "./CommitClient.ts"

/**
 * The advisory lock of partition 0; those of the other partitions follow. Nobody else in this database uses these
 * numbers.
 */
const firstLockId = 7_305_060

/**
 * Waits until no other process owns one of these partitions. So a second process stands by, and takes over within a
 * second of the first one's end, however it ended: the locks go with their connection.
 *
 * The lock keeps well-behaved processes apart. The epoch protects the journal from the others: from a statement that
 * outlives its process, and from a process that goes on after its connection broke.
 */
export const layer = (partitions: ReadonlyArray<number>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const connection = yield* ((yield* CommitClient) ?? (yield* SqlClient.SqlClient)).reserve
      const wait = Effect.fnUntraced(function* (partition: number) {
        const lockId = firstLockId + partition
        const attempt = Effect.map(
          connection.executeUnprepared("SELECT pg_try_advisory_lock($1::bigint) AS locked", [lockId], undefined),
          (rows) => (rows[0] as { readonly locked: boolean } | undefined)?.locked === true
        )
        // A connection that goes back to the pool would keep the lock.
        yield* Effect.addFinalizer(() =>
          Effect.ignore(connection.executeUnprepared("SELECT pg_advisory_unlock($1::bigint)", [lockId], undefined))
        )
        if (yield* attempt) return
        yield* Effect.logWarning(
          `another process owns partition ${partition} of the journal of this database; this one stands by`
        )
        while (!(yield* attempt)) yield* Effect.sleep("500 millis")
        yield* Effect.logInfo(`partition ${partition} of the journal is free; this process takes over`)
      })
      // In one order for all processes, so that no two wait for each other.
      for (const partition of partitions.toSorted((one, other) => one - other)) yield* wait(partition)
    })
  )
