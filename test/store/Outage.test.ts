import * as PgClient from "@effect/sql-pg/PgClient"
import { expect, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Id from "../../src/domain/Id.ts"
import { type Commit, empty, Journal } from "../../src/store/Journal.ts"
import * as JournalWriter from "../../src/store/JournalWriter.ts"
import * as Migrations from "../../src/store/Migrations.ts"
import { JournalLost } from "../../src/store/Ownership.ts"
import * as TcpProxy from "../support/TcpProxy.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

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

/** The journal through a network that fails, and a client of its own to look at the database. */
const setUp = Effect.gen(function* () {
  const url = new URL(Redacted.value(yield* TestDatabase.empty))
  const eyes = yield* Layer.build(PgClient.layer({ url: Redacted.make(url.href), maxConnections: 2 }))
  yield* Effect.provide(Migrations.run, eyes)
  const proxy = yield* TcpProxy.make({ host: url.hostname, port: Number(url.port) })
  url.port = String(proxy.port)
  const journal = yield* Layer.build(
    JournalWriter.layer({ partitions: [0], onLost: () => {} }).pipe(
      Layer.provide(PgClient.layer({ url: Redacted.make(url.href), maxConnections: 4, connectTimeout: "1 second" }))
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
  "An unreachable database, src/README.md#one-writer",
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
  }
)
