import * as PgClient from "@effect/sql-pg/PgClient"
import { expect, layer } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Id from "../../../src/domain/Id.ts"
import { type Commit, empty, Journal } from "../../../src/runtime/store/journal/Journal.ts"
import * as RowConversion from "../../../src/runtime/store/postgres/RowConversion.ts"
import { CommitTooLarge } from "../../../src/runtime/store/journal/CommitAttempt.ts"
import * as JournalWriter from "../../../src/runtime/store/journal/JournalWriter.ts"
import * as PostgresClient from "../../../src/runtime/store/postgres/PostgresClient.ts"
import * as Migrations from "../../../src/runtime/store/Migrations.ts"
import { JournalLost } from "../../../src/runtime/store/owner/Ownership.ts"
import * as TcpProxy from "../../support/network/TcpProxy.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const tenantId = Id.deriveUuid("outage", "tenant")
const call = Id.derive("outage", "call")
const commit = (seq: number, cents = 0, seed = "s"): Commit => ({
  ...empty,
  entities: [
    {
      id: call,
      kind: "call",
      tenantId,
      seq,
      settled: false,
      stateVersion: 1,
      state: { seq },
      input: { at: 1_700_000_000_000 + seq, seed, machineVersion: 1, body: {} }
    }
  ],
  money:
    cents === 0
      ? []
      : [
          {
            id: Id.derive("outage", "ledger", seq),
            tenantId,
            cause: `outage:${seq}`,
            type: "adjustment",
            amountCents: cents,
            description: "test",
            referenceType: null,
            referenceId: null,
            at: 1_700_000_000_000
          }
        ]
})

/** The journal through a network that fails, and a separate client that reads the database directly. */
const setUp = Effect.gen(function* () {
  const url = new URL(Redacted.value(yield* TestDatabase.migrated))
  const eyes = yield* Layer.build(
    PgClient.layer({ ...RowConversion.settings, url: Redacted.make(url.href), maxConnections: 2 })
  )
  yield* Effect.provide(Migrations.run, eyes)
  const proxy = yield* TcpProxy.make({ host: url.hostname, port: Number(url.port) })
  url.port = String(proxy.port)
  const journal = yield* Layer.build(
    JournalWriter.layer({ partitions: [0], onLost: () => {}, limitMs: 1_500 }).pipe(
      Layer.provide(
        PostgresClient.layer({ url: Redacted.make(url.href), name: "test", maxConnections: 4, writes: "own" })
      )
    )
  )
  const run = <A, E>(effect: Effect.Effect<A, E, Journal>) => Effect.provide(effect, journal)
  const look = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, eyes)
  yield* look(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO tenant (id, name, slug, status, created_at, updated_at) VALUES (${tenantId}, 'T', 't', 'active', now(), now())`
      yield* sql`INSERT INTO balance (tenant_id, balance_cents, updated_at) VALUES (${tenantId}, 0, now())`
    })
  )
  return { proxy, run, look }
})

const seqs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{
    readonly seq: number
  }>`SELECT seq::int AS seq FROM journal WHERE entity_id = ${call} ORDER BY seq`
  return rows.map((row) => row.seq)
})

layer(Layer.empty, { excludeTestServices: true, timeout: "60 seconds" })(
  "An unreachable database, src/runtime/README.md#one-writer",
  (it) => {
    it.effect("commits wait until it is back, and are then written once", () =>
      Effect.gen(function* () {
        const { look, proxy, run } = yield* setUp
        const journal = yield* run(Journal)
        yield* journal.commit(commit(1))
        proxy.cut()
        const waiting = yield* Effect.forkChild(journal.commit(commit(2, 7)))
        yield* Effect.sleep("600 millis")
        expect(yield* journal.unavailableForMs).toBeGreaterThan(0)
        proxy.restore()
        expect((yield* Fiber.join(waiting)).balanceCents).toBe(7)
        expect(yield* journal.unavailableForMs).toBe(0)
        expect(yield* look(seqs)).toStrictEqual([1, 2])
      }).pipe(Effect.scoped)
    )

    it.effect("a commit whose answer was lost is found, not written again", () =>
      Effect.gen(function* () {
        const { look, proxy, run } = yield* setUp
        const journal = yield* run(Journal)
        yield* journal.commit(commit(1))
        proxy.swallowAnswers()
        const waiting = yield* Effect.forkChild(journal.commit(commit(2, 9)))
        yield* Effect.sleep("400 millis")
        expect(yield* look(seqs)).toStrictEqual([1, 2])
        proxy.cut()
        proxy.restore()
        expect((yield* Fiber.join(waiting)).balanceCents).toBe(9)
        expect(yield* look(seqs)).toStrictEqual([1, 2])
        const [row] = yield* look(
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM ledger`
          )
        )
        expect(row?.n).toBe(1)
      }).pipe(Effect.scoped)
    )

    it.effect("what another process wrote meanwhile is not taken for the commit that waits", () =>
      Effect.gen(function* () {
        const { look, proxy, run } = yield* setUp
        const journal = yield* run(Journal)
        yield* journal.commit(commit(1))
        proxy.cut()
        const waiting = yield* Effect.forkChild(Effect.exit(journal.commit(commit(2, 7, "ours"))))
        yield* Effect.sleep("100 millis")
        const other = yield* look(Layer.build(JournalWriter.layer({ partitions: [0], onLost: () => {} })))
        yield* Effect.provide(
          Effect.flatMap(Journal, (theirs) => theirs.commit(commit(2, 0, "theirs"))),
          other
        )
        proxy.restore()
        const exit = yield* Fiber.join(waiting)
        expect(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof JournalLost).toBe(true)
        expect(yield* look(seqs)).toStrictEqual([1, 2])
      }).pipe(Effect.scoped)
    )

    it.effect("money without an entity whose answer was lost is found by its cause", () =>
      Effect.gen(function* () {
        const { look, proxy, run } = yield* setUp
        const journal = yield* run(Journal)
        yield* journal.commit(commit(1))
        proxy.swallowAnswers()
        const waiting = yield* Effect.forkChild(journal.commit({ ...commit(2, 9), entities: [] }))
        yield* Effect.sleep("400 millis")
        const [ledger] = yield* look(
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM ledger`
          )
        )
        expect(ledger?.n).toBe(1)
        proxy.cut()
        proxy.restore()
        expect((yield* Fiber.join(waiting)).balanceCents).toBe(9)
      }).pipe(Effect.scoped)
    )

    it.effect("a connection that has gone silent counts as an outage before it is given up", () =>
      Effect.gen(function* () {
        const { proxy, run } = yield* setUp
        const journal = yield* run(Journal)
        proxy.swallowAnswers()
        const waiting = yield* Effect.forkChild(journal.commit(commit(1)))
        yield* Effect.sleep("2200 millis")
        expect(yield* journal.unavailableForMs).toBeGreaterThan(0)
        proxy.cut()
        proxy.restore()
        yield* Fiber.join(waiting)
        expect(yield* journal.unavailableForMs).toBe(0)
      }).pipe(Effect.scoped)
    )

    it.effect("while the disk is full nothing is stored, and what nobody wants any more is withdrawn for good", () =>
      Effect.gen(function* () {
        const { look, run } = yield* setUp
        const journal = yield* run(Journal)
        yield* journal.commit(commit(1))
        const full = (table: string) => `
          CREATE OR REPLACE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
          CREATE TRIGGER full_disk BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION full_disk()`
        const unsafe = (text: string) =>
          look(
            Effect.flatMap(SqlClient.SqlClient, (sql) =>
              Effect.forEach(text.split(/;\s*\n/), (each) => sql.unsafe(each), { discard: true })
            )
          )
        yield* unsafe(full("journal"))
        yield* unsafe(full("write_probe"))
        let wanted = true
        const withdrawn = yield* Effect.forkChild(journal.commitWhile(commit(2), () => wanted, true))
        yield* Effect.sleep("600 millis")
        expect(yield* journal.unavailableForMs).toBeGreaterThan(0)
        wanted = false
        expect(yield* Fiber.join(withdrawn)).toBeNull()
        // No commit waits, and the outage is still known.
        yield* Effect.sleep("1500 millis")
        expect(yield* journal.unavailableForMs).toBeGreaterThan(0)
        expect(yield* journal.canWrite).toBe(false)
        yield* unsafe("DROP TRIGGER full_disk ON journal")
        yield* unsafe("DROP TRIGGER full_disk ON write_probe")
        yield* Effect.sleep("2500 millis")
        expect(yield* journal.unavailableForMs).toBe(0)
        expect(yield* journal.canWrite).toBe(true)
        expect(yield* look(seqs)).toStrictEqual([1])
        yield* journal.commit(commit(2))
      }).pipe(Effect.scoped)
    )

    it.effect("a commit that is too large is refused alone, with its own error", () =>
      Effect.gen(function* () {
        const { look, run } = yield* setUp
        const journal = yield* run(Journal)
        const huge = { ...commit(1, 0, "x".repeat(17 * 1024 * 1024)) }
        const [tooLarge, beside] = yield* Effect.all(
          [Effect.exit(journal.commit(huge)), Effect.exit(journal.commit({ ...commit(7, 5), entities: [] }))],
          { concurrency: 2 }
        )
        expect(Exit.isFailure(tooLarge) && Cause.squash(tooLarge.cause)).toBeInstanceOf(CommitTooLarge)
        expect(Exit.isSuccess(beside)).toBe(true)
        expect(yield* look(seqs)).toStrictEqual([])
      }).pipe(Effect.scoped)
    )

    it.effect(
      "a batch that takes too long is halved: what holds it up waits by itself, and the others are written",
      () =>
        Effect.gen(function* () {
          const { look, run } = yield* setUp
          const journal = yield* run(Journal)
          yield* journal.commit(commit(1))
          const release = yield* Deferred.make<void>()
          const held = yield* Deferred.make<void>()
          const lock = yield* Effect.forkChild(
            look(
              Effect.flatMap(SqlClient.SqlClient, (sql) =>
                sql.withTransaction(
                  Effect.gen(function* () {
                    yield* sql`SELECT FROM balance FOR UPDATE`
                    yield* Deferred.succeed(held, undefined)
                    yield* Deferred.await(release)
                  })
                )
              )
            )
          )
          yield* Deferred.await(held)
          const stuck = yield* Effect.forkChild(journal.commit({ ...commit(9, 5), entities: [] }))
          const others = yield* Effect.forEach([2], (seq) => Effect.forkChild(journal.commit(commit(seq))))
          for (const each of others) yield* Fiber.join(each)
          expect(stuck.pollUnsafe()).toBe(undefined)
          yield* Deferred.succeed(release, undefined)
          yield* Fiber.join(lock)
          expect((yield* Fiber.join(stuck)).balanceCents).toBe(5)
          expect(yield* look(seqs)).toStrictEqual([1, 2])
        }).pipe(Effect.scoped)
    )
  }
)
