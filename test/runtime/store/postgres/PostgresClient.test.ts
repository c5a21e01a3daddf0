import * as PgClient from "@effect/sql-pg/PgClient"
import { describe, expect, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Fiber, Layer, Redacted, References } from "effect"
import { SqlClient } from "effect/sql"
import { SqlError } from "effect/sql/SqlError"
import { JournalLost } from "../../../../src/runtime/store/owner/Ownership.ts"
import * as Outage from "../../../../src/runtime/store/Outage.ts"
import * as PostgresClient from "../../../../src/runtime/store/postgres/PostgresClient.ts"
import * as Migrations from "../../../../src/runtime/store/Migrations.ts"
import { StatementLimit } from "../../../../src/runtime/store/StatementLimit.ts"
import * as Unanswered from "../../../../src/runtime/store/journal/Unanswered.ts"
import { WriteFence } from "../../../../src/runtime/store/owner/WriteFence.ts"
import * as TcpProxy from "../../../support/network/TcpProxy.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"

/** A process whose connections use a network that fails, and a separate client that reads the database directly. */
const setUp = Effect.fnUntraced(function* (options: { readonly maxConnections?: number } = {}) {
  const url = new URL(Redacted.value(yield* TestDatabase.empty))
  const eyes = yield* Layer.build(PgClient.layer({ url: Redacted.make(url.href), maxConnections: 2 }))
  yield* Effect.provide(Migrations.run, eyes)
  const proxy = yield* TcpProxy.make({ host: url.hostname, port: Number(url.port) })
  url.port = String(proxy.port)
  const context = yield* Layer.build(
    PostgresClient.layer({
      url: Redacted.make(url.href),
      name: "test",
      maxConnections: options.maxConnections ?? 4,
      writes: "fenced",
      acquireMs: 2_000
    }).pipe(Layer.provideMerge(WriteFence.layer))
  )
  Context.get(context, WriteFence).set({
    held: new Map([[0, 0]]),
    lost: () => new JournalLost({ partition: 0, epoch: 0 })
  })
  const run = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) => Effect.provide(effect, context)
  const look = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, eyes)
  return { proxy, run, look }
})

const insert = (value: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`INSERT INTO rate (deck, direction, prefix, micro_usd_per_minute) VALUES (0, 'outbound', ${value}, 1)`
  )
const inTransaction = (value: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(Effect.andThen(sql`SELECT 1`, insert(value))))
const written = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql<{ readonly prefix: string }>`SELECT prefix FROM rate ORDER BY prefix`, (rows) =>
    rows.map(({ prefix }) => prefix)
  )
)
const ping = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`)

const errorOf = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isFailure(exit) ? Cause.squash(exit.cause) : new Error("it succeeded")

/** These tests mostly wait, each on a separate database. */
const live = { timeout: 30_000, concurrent: true }
const quiet = Effect.provideService(References.MinimumLogLevel, "None")

describe("A session of the database, src/runtime/README.md#one-writer", () => {
  it.live.each(["silence", "cut"] as const)(
    "a transaction fails as its statement did, though nobody can roll it back: %s",
    (by) =>
      Effect.gen(function* () {
        const { proxy, run } = yield* setUp()
        yield* run(ping)
        proxy.lose({ text: "INSERT INTO rate", arrives: false, by })
        const exit = yield* Effect.exit(Effect.provideService(run(inTransaction("1")), StatementLimit, 300))
        expect(Exit.isFailure(exit) && exit.cause.reasons.map(({ _tag }) => _tag)).toStrictEqual(["Fail"])
        const error = errorOf(exit)
        expect(error instanceof SqlError && Outage.is(error)).toBe(true)
        proxy.restore()
        expect(yield* run(written)).toStrictEqual([])
      }).pipe(Effect.scoped, quiet),
    live
  )

  it.live(
    "a statement on a silent connection fails at its deadline, and the connection is replaced",
    () =>
      Effect.gen(function* () {
        const { proxy, run } = yield* setUp({ maxConnections: 1 })
        yield* run(ping)
        proxy.lose({ text: "SELECT 1", arrives: true, by: "silence" })
        proxy.swallowAnswers()
        const error = errorOf(yield* Effect.exit(Effect.provideService(run(ping), StatementLimit, 300)))
        expect(error instanceof SqlError && Outage.is(error) && Unanswered.of(error)?.wasSent).toBe(true)
        proxy.restore()
        // The abandoned connection is drained for at most 5 s; then another one takes its place.
        const again = yield* Effect.exit(run(ping).pipe(Effect.retry({ times: 20 })))
        expect(Exit.isSuccess(again)).toBe(true)
      }).pipe(Effect.scoped, quiet),
    live
  )

  it.live(
    "a statement was not sent while the database refuses connections, and none is left",
    () =>
      Effect.gen(function* () {
        const { proxy, run } = yield* setUp({ maxConnections: 1 })
        yield* run(ping)
        proxy.cut()
        yield* Effect.sleep("100 millis")
        for (const statement of [ping, insert("1")]) {
          const error = errorOf(yield* Effect.exit(run(statement)))
          expect(error instanceof SqlError && Outage.is(error) && Unanswered.of(error)?.wasSent).toBe(false)
        }
        proxy.restore()
        yield* run(ping)
      }).pipe(Effect.scoped, quiet),
    live
  )

  it.live(
    "a statement that finds no free connection is told so in time, and was not sent",
    () =>
      Effect.gen(function* () {
        const { run } = yield* setUp({ maxConnections: 1 })
        const slow = yield* Effect.forkChild(run(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT pg_sleep(4)`)))
        yield* Effect.sleep("100 millis")
        const error = errorOf(yield* Effect.exit(run(ping)))
        expect(error instanceof SqlError && Outage.is(error) && Unanswered.of(error)?.wasSent).toBe(false)
        yield* Fiber.join(slow)
        yield* run(ping)
      }).pipe(Effect.scoped, quiet),
    live
  )

  for (const [name, write] of [
    ["a transaction", inTransaction],
    ["a statement of its own", insert]
  ] as const) {
    it.live(
      `${name} whose COMMIT got no answer has succeeded if it is there`,
      () =>
        Effect.gen(function* () {
          const { look, proxy, run } = yield* setUp()
          yield* run(write("1"))
          proxy.lose({ text: "COMMIT", arrives: true, by: "cut" })
          yield* run(write("2"))
          expect(proxy.losses()).toBe(1)
          expect(yield* look(written)).toStrictEqual(["1", "2"])
        }).pipe(Effect.scoped, quiet),
      live
    )

    it.live(
      `${name} whose COMMIT never arrived has failed, and will not be there`,
      () =>
        Effect.gen(function* () {
          const { look, proxy, run } = yield* setUp()
          yield* run(write("1"))
          proxy.lose({ text: "COMMIT", arrives: false, by: "silence" })
          const error = errorOf(yield* Effect.exit(Effect.provideService(run(write("2")), StatementLimit, 400)))
          expect(error instanceof SqlError && Outage.is(error)).toBe(true)
          expect(proxy.losses()).toBe(1)
          // No session holds a lock of the table any more.
          yield* look(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`TRUNCATE rate`))
          yield* Effect.sleep("200 millis")
          expect(yield* look(written)).toStrictEqual([])
        }).pipe(Effect.scoped, quiet),
      live
    )
  }

  it.live(
    "the outcome of a COMMIT without an answer is waited for while the database is away",
    () =>
      Effect.gen(function* () {
        const { look, proxy, run } = yield* setUp()
        yield* run(ping)
        proxy.lose({ text: "COMMIT", arrives: true, by: "cut" })
        const writing = yield* Effect.forkChild(run(inTransaction("1")))
        while (proxy.losses() === 0) yield* Effect.sleep("5 millis")
        yield* Effect.sleep("30 millis")
        proxy.cut()
        yield* Effect.sleep("1 second")
        expect(writing.pollUnsafe()).toBe(undefined)
        proxy.restore()
        yield* Fiber.join(writing)
        expect(yield* look(written)).toStrictEqual(["1"])
      }).pipe(Effect.scoped, quiet),
    live
  )

  it.live(
    "a process that lost the journal writes nothing, in a transaction or without one, and still reads",
    () =>
      Effect.gen(function* () {
        const { look, run } = yield* setUp()
        yield* run(insert("1"))
        yield* look(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE journal_owner SET epoch = epoch + 1`))
        for (const write of [inTransaction("2"), insert("3")])
          expect(errorOf(yield* Effect.exit(run(write)))).toBeInstanceOf(JournalLost)
        expect(yield* run(written)).toStrictEqual(["1"])
        expect(yield* look(written)).toStrictEqual(["1"])
      }).pipe(Effect.scoped, quiet),
    live
  )

  it.live(
    "what is not seen to write is refused by the server outside of a transaction",
    () =>
      Effect.gen(function* () {
        const { look, run } = yield* setUp()
        yield* look(
          Effect.flatMap(SqlClient.SqlClient, (sql) =>
            sql.unsafe(`CREATE FUNCTION hidden() RETURNS void LANGUAGE sql AS
              $$ INSERT INTO rate (deck, direction, prefix, micro_usd_per_minute) VALUES (0, 'outbound', '9', 1) $$`)
          )
        )
        const hidden = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT hidden()`)
        expect(Exit.isFailure(yield* Effect.exit(run(hidden)))).toBe(true)
        expect(yield* look(written)).toStrictEqual([])
      }).pipe(Effect.scoped, quiet),
    live
  )
})
