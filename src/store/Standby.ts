import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CommitClient } from "./CommitClient.ts"

/** The advisory lock of partition 0; those of the others follow. Numbers that nobody else in this database uses. */
const firstLockId = 7_305_060

/**
 * Waits until no other process owns a partition of these: a second process stands by, and takes over within a second of
 * the first one's end, however it ended (the locks go with their connection).
 *
 * The lock keeps processes apart that behave; what protects the journal from one that does not (a statement that
 * outlives its process, a connection that breaks while its process goes on) is the epoch.
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
        // Back in the pool a connection would keep it.
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
      // In one order for all, so that no two processes wait for each other.
      for (const partition of partitions.toSorted((one, other) => one - other)) yield* wait(partition)
    })
  )
