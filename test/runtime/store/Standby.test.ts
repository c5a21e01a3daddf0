import * as PgClient from "@effect/sql-pg/PgClient"
import { expect, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Redacted, References, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../../src/app/boot/Database.ts"
import { Journal } from "../../../src/runtime/store/journal/Journal.ts"
import * as RowConversion from "../../../src/runtime/store/postgres/RowConversion.ts"
import * as JournalWriter from "../../../src/runtime/store/journal/JournalWriter.ts"
import * as Migrations from "../../../src/runtime/store/Migrations.ts"
import type { JournalLost } from "../../../src/runtime/store/owner/Ownership.ts"
import * as TcpProxy from "../../support/network/TcpProxy.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

/** A process on this database, with a separate data directory and a network that can fail. */
const process = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  options: {
    readonly holder: string
    readonly partitions?: ReadonlyArray<number>
    /** How it migrates what it owns; absent: as this version does. */
    readonly migrate?: typeof Migrations.run
  }
) {
  const target = new URL(Redacted.value(url))
  const network = yield* TcpProxy.make({ host: target.hostname, port: Number(target.port) })
  target.port = String(network.port)
  const lost = Deferred.makeUnsafe<JournalLost>()
  const start = Layer.unwrap(
    Effect.gen(function* () {
      const database = yield* Effect.context<SqlClient.SqlClient>()
      return JournalWriter.layer({
        partitions: options.partitions ?? [0],
        heartbeatMs: 200,
        onLost: (error) => void Deferred.doneUnsafe(lost, Effect.succeed(error)),
        standBy: { holder: options.holder, prepare: Effect.provide(options.migrate ?? Migrations.run, database) }
      })
    })
  ).pipe(Layer.provideMerge(Database.layer({ url: Redacted.make(target.href) })))
  const scope = yield* Scope.fork(yield* Effect.scope)
  const fiber = yield* Effect.forkIn(Layer.buildWithScope(start, scope), scope)
  return {
    network,
    isOwner: () => fiber.pollUnsafe() !== undefined,
    isLost: () => Deferred.isDoneUnsafe(lost),
    journal: Effect.map(Fiber.join(fiber), (context) => Context.get(context, Journal)),
    stop: Scope.close(scope, Exit.void)
  }
})

/** A client that does not use the network of the processes. */
const eyes = (url: Redacted.Redacted) =>
  Effect.map(Layer.build(PgClient.layer({ ...RowConversion.settings, url, maxConnections: 1 })), (context) =>
    Context.get(context, SqlClient.SqlClient)
  )

/** The connections that hold a lock of the journal. */
const locks = (sql: SqlClient.SqlClient) =>
  sql<{ readonly pid: number }>`
    SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

const until = Effect.fnUntraced(function* <E>(what: string, isSo: Effect.Effect<boolean, E>) {
  for (let tries = 0; tries < 400; tries++) {
    if (yield* isSo) return
    yield* Effect.sleep("50 millis")
  }
  return yield* Effect.die(new Error(`${what}: not within 20 s`))
})

/** These tests mostly wait, each on a separate database. */
const beside = { concurrent: true }

layer(Layer.succeed(References.MinimumLogLevel, "None"), { excludeTestServices: true, timeout: "60 seconds" })(
  "Processes that share a database, src/runtime/README.md#two-processes",
  (it) => {
    it.effect(
      "a second one waits while the first lives, and takes over at once when it stops in order",
      () =>
        Effect.gen(function* () {
          const url = yield* TestDatabase.empty
          const first = yield* process(url, { holder: "one" })
          const epoch = (yield* first.journal).epoch(0) ?? 0
          const second = yield* process(url, { holder: "two" })
          yield* Effect.sleep("1200 millis")
          expect(second.isOwner()).toBe(false)
          yield* first.stop
          const journal = yield* Effect.timeout(second.journal, "10 seconds")
          expect(journal.epoch(0)).toBeGreaterThan(epoch)
        }).pipe(Effect.scoped),
      beside
    )

    it.effect(
      "an owner whose lock's connection broke has the lock again, and one that waits goes on waiting",
      () =>
        Effect.gen(function* () {
          const url = yield* TestDatabase.empty
          const sql = yield* eyes(url)
          const first = yield* process(url, { holder: "one" })
          const epoch = (yield* first.journal).epoch(0)
          const second = yield* process(url, { holder: "two" })
          yield* Effect.sleep("700 millis")
          const [held] = yield* locks(sql)
          yield* sql`SELECT pg_terminate_backend(${held?.pid ?? 0})`
          yield* until(
            "the lock is held again",
            Effect.map(locks(sql), ([now]) => now !== undefined && now.pid !== held?.pid)
          )
          second.network.cut()
          yield* Effect.sleep("1 second")
          second.network.restore()
          yield* Effect.sleep("2 seconds")
          expect(second.isOwner()).toBe(false)
          expect(first.isLost()).toBe(false)
          expect((yield* first.journal).epoch(0)).toBe(epoch)
          yield* first.stop
          yield* Effect.timeout(second.journal, "10 seconds")
        }).pipe(Effect.scoped),
      beside
    )

    it.effect(
      "an owner that is cut off for longer than a silence is replaced, and hears of it when it is back",
      () =>
        Effect.gen(function* () {
          const url = yield* TestDatabase.empty
          const first = yield* process(url, { holder: "one" })
          yield* first.journal
          const second = yield* process(url, { holder: "two" })
          yield* Effect.sleep("700 millis")
          first.network.cut()
          yield* Effect.sleep("8 seconds")
          expect(second.isOwner()).toBe(false)
          yield* Effect.timeout(second.journal, "30 seconds")
          expect(first.isLost()).toBe(false)
          first.network.restore()
          yield* until("the first has lost it", Effect.sync(first.isLost))
        }).pipe(Effect.scoped),
      beside
    )

    it.effect(
      "one on the data directory of a dead owner waits for nothing",
      () =>
        Effect.gen(function* () {
          const url = yield* TestDatabase.empty
          const first = yield* process(url, { holder: "one" })
          yield* first.journal
          first.network.cut()
          const next = yield* process(url, { holder: "one" })
          yield* Effect.timeout(next.journal, "10 seconds")
        }).pipe(Effect.scoped),
      beside
    )

    it.effect(
      "one takes all its partitions or none: it holds no lock of one while it waits for another",
      () =>
        Effect.gen(function* () {
          const url = yield* TestDatabase.empty
          const first = yield* process(url, { holder: "one", partitions: [3, 5] })
          yield* first.journal
          const second = yield* process(url, { holder: "two", partitions: [5, 6] })
          yield* Effect.sleep("1 second")
          expect(second.isOwner()).toBe(false)
          const third = yield* process(url, { holder: "three", partitions: [4, 6] })
          yield* Effect.timeout(third.journal, "10 seconds")
          yield* third.stop
          yield* first.stop
          yield* Effect.timeout(second.journal, "10 seconds")
        }).pipe(Effect.scoped),
      beside
    )

    it.effect(
      "one that waits leaves the schema alone: it migrates what it owns",
      () =>
        Effect.gen(function* () {
          const url = yield* TestDatabase.empty
          const sql = yield* eyes(url)
          yield* Effect.provide(Migrations.run, Layer.succeed(SqlClient.SqlClient, sql))
          const later = Migrations.make({ ...Migrations.all, "9999_later": Effect.void })
          // The previous version writes its heartbeats differently.
          const beat = sql`UPDATE journal_owner SET epoch = 7, heartbeat_at = clock_timestamp(), time_ms = 1`
          yield* beat
          const alive = yield* Effect.forkChild(Effect.forever(Effect.andThen(beat, Effect.sleep("300 millis"))))
          const next = yield* process(url, { holder: "two", migrate: later.run })
          yield* Effect.sleep("2 seconds")
          const newest = sql<{ readonly id: number }>`SELECT max(migration_id) AS id FROM effect_sql_migrations`
          expect(yield* newest).toStrictEqual([{ id: Migrations.newest }])
          yield* Fiber.interrupt(alive)
          const journal = yield* Effect.timeout(next.journal, "40 seconds")
          expect(journal.epoch(0)).toBeGreaterThan(7)
          expect(yield* newest).toStrictEqual([{ id: later.newest }])
        }).pipe(Effect.scoped),
      beside
    )
  }
)
