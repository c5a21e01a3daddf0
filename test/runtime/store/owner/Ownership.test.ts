import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Monotonic from "../../../../src/domain/time/Monotonic.ts"
import { Journal } from "../../../../src/runtime/store/journal/Journal.ts"
import * as JournalWriter from "../../../../src/runtime/store/journal/JournalWriter.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"

const heartbeatMs = 10

const heartbeat = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly at: number }>`
    SELECT alive_ms AS at FROM journal_owner`
  return row?.at ?? 0
})

describe("The owner of the journal, src/runtime/README.md#one-writer", () => {
  layer(TestDatabase.layer, { excludeTestServices: true })((it) => {
    it.effect("who lost the journal hears of it without having anything to write", () =>
      Effect.gen(function* () {
        const lost = yield* Deferred.make<void>()
        const onLost = () => void Deferred.doneUnsafe(lost, Effect.void)
        yield* Layer.build(JournalWriter.layer({ partitions: [0], onLost, heartbeatMs }))
        yield* Layer.build(JournalWriter.layer({ partitions: [0], onLost: () => {}, heartbeatMs }))
        yield* Effect.timeout(Deferred.await(lost), "5 seconds")
      }).pipe(Effect.scoped)
    )

    it.effect("the heartbeat of a dead process stands until its calls were told", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const diedAt = 1_700_000_000_000
        yield* sql`UPDATE journal_owner SET heartbeat_at = to_timestamp(${diedAt / 1000}::float8), alive_ms = ${diedAt}`
        yield* sql`
          INSERT INTO entity (id, kind, tenant_id, partition, seq, settled, state_version, state, updated_at)
          VALUES ('left', 'call', gen_random_uuid(), 0, 1, false, 1, '{}', to_timestamp(${diedAt / 1000}::float8))`
        const start = Layer.build(JournalWriter.layer({ partitions: [0], onLost: () => {}, heartbeatMs }))
        // This start dies before it has recovered anything.
        yield* Effect.scoped(Effect.andThen(start, Effect.sleep("100 millis")))
        const journal = yield* Effect.provide(Journal, yield* start)
        expect(journal.lastHeartbeatAt(0)).toBe(diedAt)
        yield* sql`UPDATE entity SET updated_at = now() WHERE id = 'left'`
        while ((yield* heartbeat) === diedAt) yield* Effect.sleep("5 millis")
      }).pipe(Effect.scoped)
    )

    it.effect("the time of a partition goes on from process to process", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        // No entity waits to be rebuilt.
        yield* sql`DELETE FROM entity`
        const life = Effect.gen(function* () {
          const journal = yield* Effect.provide(
            Journal,
            yield* Layer.build(JournalWriter.layer({ partitions: [0], onLost: () => {}, heartbeatMs }))
          )
          const born = (yield* Monotonic.now) + journal.originMs(0)
          yield* Effect.sleep("100 millis")
          return { born, died: (yield* Monotonic.now) + journal.originMs(0), alive: journal.lastHeartbeatAt(0) ?? 0 }
        }).pipe(Effect.scoped)
        const first = yield* life
        yield* Effect.sleep("200 millis")
        const second = yield* life
        expect(second.born).toBeGreaterThanOrEqual(first.died + 150)
        expect(second.born).toBeLessThan(first.died + 10_000)
        expect(second.alive).toBeLessThan(first.died + 100)
        expect(second.alive).toBeGreaterThanOrEqual(first.born)
        // The database's clock was set back by an hour while no process held the partition, whose time does not run
        // back.
        yield* sql`UPDATE journal_owner SET heartbeat_at = heartbeat_at + interval '1 hour'`
        const third = yield* life
        expect(third.born).toBeGreaterThanOrEqual(third.alive)
        expect(third.born).toBeLessThan(second.died + 10_000)
      })
    )
  })
})
