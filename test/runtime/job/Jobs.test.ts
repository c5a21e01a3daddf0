import * as PgClient from "@effect/sql-pg/PgClient"
import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { TenantId } from "../../../src/domain/Id.ts"
import type { Due, Job } from "../../../src/runtime/job/Job.ts"
import { Jobs } from "../../../src/runtime/job/Jobs.ts"
import * as JournalWriter from "../../../src/runtime/store/journal/JournalWriter.ts"
import * as Migrations from "../../../src/runtime/store/Migrations.ts"
import * as Ids from "../../support/Ids.ts"
import * as RowConversion from "../../../src/runtime/store/postgres/RowConversion.ts"
import * as TcpProxy from "../../support/network/TcpProxy.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

/** The time of the database's clock at the start, in epoch seconds. The test moves that clock. */
const startedAt = 1_800_000_000
const clockOf = (sql: SqlClient.SqlClient) => {
  let seconds = startedAt
  return { now: () => sql`to_timestamp(${seconds}::float8)`, pass: (by: number) => void (seconds += by) }
}

/** A database, a clock, and as many processes as a test needs. */
const world = Effect.gen(function* () {
  const url = yield* TestDatabase.migrated
  const database = yield* Layer.build(PgClient.layer({ ...RowConversion.settings, url, maxConnections: 10 }))
  yield* Effect.provide(Migrations.run, database)
  const sql = yield* Effect.provide(SqlClient.SqlClient, database)
  const clock = clockOf(sql)
  /** Starts a process that owns the journal from now on; the previous owner has lost it. */
  const start = (options: { readonly onLost?: () => void; readonly partitions?: ReadonlyArray<number> } = {}) =>
    Layer.build(
      JournalWriter.layer({ partitions: options.partitions ?? [0], onLost: options.onLost ?? (() => {}) })
    ).pipe(
      Effect.provide(database),
      Effect.map((journal) => ({
        /**
         * A runner of this process. Two of them represent two processes that both believe that they own the journal.
         */
        jobs: Effect.map(
          Layer.build(Jobs.layer({ now: clock.now }).pipe(Layer.provide(Layer.succeedContext(journal)))).pipe(
            Effect.provide(database)
          ),
          (context) => Effect.provide(Jobs, context)
        ).pipe(Effect.flatten)
      }))
    )
  const rows = sql<{
    readonly key: string
    readonly attempt: number
    readonly due: number | null
    readonly error: string | null
  }>`SELECT key, attempt, (extract(epoch FROM due_at) - ${startedAt})::float8 AS due, last_error AS error FROM job ORDER BY key`
  return { sql, clock, start, rows }
})

const retry = { attempts: 4, firstMs: 10_000, maxMs: 15_000 }
const kind = "test.work"
const declared = (run: Job["run"], fields: Partial<Job> = {}): Job => ({
  kind,
  concurrency: 4,
  timeoutMs: 5_000,
  retry,
  run,
  ...fields
})
const row = (key: string, tenantId: TenantId | null = null) => ({ kind, key, tenantId })

layer(Layer.empty, { excludeTestServices: true, timeout: "60 seconds" })("Jobs", (it) => {
  describe("a row", () => {
    it.effect("is done once and goes, only with the transaction that put it", () =>
      Effect.gen(function* () {
        const { rows, sql, start } = yield* world
        const jobs = yield* (yield* start()).jobs
        const done: Array<Due> = []
        jobs.declare(declared((due) => Effect.sync(() => done.push(due))))
        const tenantId = Ids.tenant(randomUUID())
        yield* Effect.exit(sql.withTransaction(Effect.andThen(jobs.enqueue(row("undone")), Effect.die("rolled back"))))
        yield* sql.withTransaction(jobs.enqueue(row("a", tenantId)))
        yield* jobs.poll
        yield* jobs.poll
        expect(done.map(({ attempt, key, tenantId }) => ({ attempt, key, tenantId }))).toStrictEqual([
          { key: "a", tenantId, attempt: 1 }
        ])
        expect(yield* rows).toStrictEqual([])
      }).pipe(Effect.scoped)
    )

    it.effect(
      "is done in its tenant's home, whichever of the held partitions that is; what recurs is done in one",
      () =>
        Effect.gen(function* () {
          const { rows, sql, start } = yield* world
          const tenants = [0, 7].map((partition) => ({ id: Ids.tenant(randomUUID()), partition }))
          yield* Effect.forEach(
            tenants,
            ({ id, partition }) => sql`
            INSERT INTO tenant (id, name, slug, status, partition, created_at, updated_at)
            VALUES (${id}, 'Acme', ${id}, 'active', ${partition}, now(), now())`
          )
          const jobs = yield* (yield* start({ partitions: [0, 7] })).jobs
          const done: Array<string> = []
          const run: Job["run"] = ({ key }) => Effect.sync(() => void done.push(key))
          jobs.declare(declared(run))
          jobs.declare(declared(run, { kind: "test.sweep", everyMs: 60_000 }))
          yield* Effect.forEach(tenants, ({ id, partition }) => jobs.enqueue(row(`of ${partition}`, id)))
          yield* jobs.enqueue(row("now", tenants[1]?.id ?? null))
          yield* jobs.runNow(kind, "now")
          expect(done).toStrictEqual(["now"])
          yield* Effect.forkScoped(jobs.run)
          while (done.length < 4) yield* Effect.sleep("10 millis")
          yield* jobs.poll
          expect(done.toSorted()).toStrictEqual(["now", "of 0", "of 7", "test.sweep"])
          expect((yield* rows).map(({ key }) => key)).toStrictEqual(["test.sweep"])
        }).pipe(Effect.scoped)
    )

    it.effect("is tried again later and later, then kept as failed, each cause logged once, until it is revived", () =>
      Effect.gen(function* () {
        const { clock, rows, start } = yield* world
        const jobs = yield* (yield* start()).jobs
        const logged: Array<string> = []
        const logger = Logger.make(({ message }) => void logged.push(String(message)))
        let works = false
        jobs.declare(
          declared(({ attempt }) => (works ? Effect.void : Effect.die(new Error(`no ${Math.min(attempt, 2)}`))))
        )
        yield* jobs.enqueue(row("a"))
        const attempt = (after: number) =>
          Effect.sync(() => clock.pass(after)).pipe(Effect.andThen(jobs.poll), Effect.provide(Logger.layer([logger])))
        yield* attempt(0)
        expect(yield* rows).toStrictEqual([{ key: "a", attempt: 1, due: 10, error: "no 1" }])
        yield* attempt(9)
        expect((yield* rows)[0]?.attempt).toBe(1)
        yield* attempt(1)
        expect(yield* rows).toStrictEqual([{ key: "a", attempt: 2, due: 25, error: "no 2" }])
        yield* attempt(15)
        expect(yield* rows).toStrictEqual([{ key: "a", attempt: 3, due: 40, error: "no 2" }])
        yield* attempt(15)
        expect(yield* rows).toStrictEqual([{ key: "a", attempt: 4, due: null, error: "no 2" }])
        yield* attempt(1_000)
        expect(logged).toStrictEqual([
          `job ${kind} a failed and is tried again`,
          `job ${kind} a failed and is tried again`,
          `job ${kind} a has failed for good after 4 attempts`
        ])
        expect((yield* jobs.stats)[0]).toMatchObject({ kind, failed: 1, due: 0, running: 0 })
        expect((yield* jobs.failed(10))[0]).toMatchObject({ kind, key: "a", attempts: 4, error: "no 2" })
        works = true
        expect(yield* jobs.retry(kind, "b")).toBe(false)
        expect(yield* jobs.retry(kind, "a")).toBe(true)
        yield* attempt(0)
        expect(yield* rows).toStrictEqual([])
      }).pipe(Effect.scoped)
    )

    it.effect("that takes too long has failed", () =>
      Effect.gen(function* () {
        const { rows, start } = yield* world
        const jobs = yield* (yield* start()).jobs
        jobs.declare(declared(() => Effect.never, { timeoutMs: 50 }))
        yield* jobs.enqueue(row("a"))
        yield* jobs.poll
        expect((yield* rows)[0]).toMatchObject({ key: "a", attempt: 1, due: 10 })
      }).pipe(Effect.scoped)
    )

    it.effect("runs at once where somebody waits for it, and only once", () =>
      Effect.gen(function* () {
        const { rows, start } = yield* world
        const jobs = yield* (yield* start()).jobs
        const gate = yield* Deferred.make<void>()
        const began = yield* Deferred.make<void>()
        let made = 0
        jobs.declare(
          declared(() =>
            Effect.sync(() => made++).pipe(
              Effect.andThen(Deferred.succeed(began, undefined)),
              Effect.andThen(Deferred.await(gate))
            )
          )
        )
        yield* jobs.enqueue(row("a"))
        const looking = yield* Effect.forkChild(jobs.poll)
        yield* Deferred.await(began)
        const waiting = yield* Effect.forkChild(jobs.runNow(kind, "a"))
        yield* Effect.sleep("50 millis")
        expect(waiting.pollUnsafe()).toBeUndefined()
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(waiting)
        yield* Fiber.join(looking)
        expect(made).toBe(1)
        expect(yield* rows).toStrictEqual([])
      }).pipe(Effect.scoped)
    )
  })

  describe("what recurs", () => {
    it.effect("runs after each period, neither twice nor never because of a restart", () =>
      Effect.gen(function* () {
        const { clock, rows, start } = yield* world
        let runs = 0
        const sweep = declared(() => Effect.sync(() => runs++), { kind: "test.sweep", everyMs: 3_600_000 })
        const process = Effect.gen(function* () {
          const jobs = yield* (yield* start()).jobs
          jobs.declare(sweep)
          yield* Effect.forkScoped(jobs.run)
          yield* Effect.sleep("300 millis")
          return runs
        }).pipe(Effect.scoped)
        expect(yield* process).toBe(1)
        clock.pass(3_599)
        expect(yield* process).toBe(1)
        clock.pass(1)
        expect(yield* process).toBe(2)
        expect(yield* rows).toStrictEqual([{ key: "test.sweep", attempt: 0, due: 7_200, error: null }])
      }).pipe(Effect.scoped)
    )
  })

  describe("the clock of the database is set back", () => {
    it.effect("what recurs comes again after its period, and not after the days that it was ahead", () =>
      Effect.gen(function* () {
        const { clock, rows, start } = yield* world
        let runs = 0
        const jobs = yield* (yield* start()).jobs
        const started = yield* Deferred.make<void>()
        const run = () =>
          Effect.andThen(
            Effect.sync(() => runs++),
            Deferred.succeed(started, undefined)
          )
        jobs.declare(declared(run, { kind: "test.sweep", everyMs: 3_600_000 }))
        yield* Effect.forkScoped(jobs.run)
        yield* Deferred.await(started)
        yield* jobs.poll
        clock.pass(5 * 86_400)
        yield* jobs.poll
        expect(runs).toBe(2)
        clock.pass(-5 * 86_400)
        yield* jobs.poll
        expect(yield* rows).toMatchObject([{ due: 3_600 }])
        clock.pass(3_600)
        yield* jobs.poll
        expect(runs).toBe(3)
      }).pipe(Effect.scoped)
    )
  })

  describe("several processes", () => {
    it.effect("two runners at once never make an attempt at one row within its lease", () =>
      Effect.gen(function* () {
        const { rows, sql, start } = yield* world
        const owner = yield* start()
        const runners = yield* Effect.all([owner.jobs, owner.jobs, owner.jobs])
        const made = new Map<string, number>()
        for (const jobs of runners)
          jobs.declare(
            declared(({ key }) =>
              Effect.delay(
                Effect.sync(() => made.set(key, (made.get(key) ?? 0) + 1)),
                "2 millis"
              )
            )
          )
        const tenants = Array.from({ length: 5 }, () => Ids.tenant(randomUUID()))
        yield* sql.withTransaction(
          Effect.forEach(
            Array.from({ length: 200 }, (_, n) => n),
            (n) => runners[0].enqueue(row(`${n}`, tenants[n % 5]))
          )
        )
        yield* Effect.forEach(runners, (jobs) => Effect.repeat(jobs.poll, { until: () => made.size === 200 }), {
          concurrency: "unbounded"
        })
        while ((yield* rows).length > 0) yield* Effect.sleep("10 millis")
        expect([...made.values()].filter((times) => times !== 1)).toStrictEqual([])
      }).pipe(Effect.scoped)
    )

    it.effect("the row of a dead worker returns when its lease is over, and counts the attempt", () =>
      Effect.gen(function* () {
        const { clock, rows, start } = yield* world
        const owner = yield* start()
        const [dead, alive] = yield* Effect.all([owner.jobs, owner.jobs])
        const began = yield* Deferred.make<void>()
        dead.declare(
          declared(() => Effect.andThen(Deferred.succeed(began, undefined), Effect.never), { timeoutMs: 3_600_000 })
        )
        const attempts: Array<number> = []
        alive.declare(declared(({ attempt }) => Effect.sync(() => attempts.push(attempt))))
        yield* alive.enqueue(row("a"))
        yield* Effect.forkDetach(dead.poll)
        yield* Deferred.await(began)
        clock.pass(3_600 + 29)
        yield* alive.poll
        expect(attempts).toStrictEqual([])
        clock.pass(1)
        yield* alive.poll
        expect(attempts).toStrictEqual([2])
        expect(yield* rows).toStrictEqual([])
      }).pipe(Effect.scoped)
    )

    it.effect("a row whose every attempt died with its process has failed, it does not go on for ever", () =>
      Effect.gen(function* () {
        const { clock, rows, sql, start } = yield* world
        const jobs = yield* (yield* start()).jobs
        jobs.declare(declared(() => Effect.die("not made")))
        yield* jobs.enqueue(row("a"))
        yield* sql`UPDATE job SET attempt = 4`
        clock.pass(1)
        yield* jobs.poll
        expect((yield* rows)[0]).toMatchObject({
          due: null,
          error: "its process ended, or its outcome could not be written"
        })
      }).pipe(Effect.scoped)
    )

    it.effect("who takes the journal over takes what was claimed at once; who lost it does nothing more", () =>
      Effect.gen(function* () {
        const { rows, start } = yield* world
        let lost = 0
        const before = yield* (yield* start({ onLost: () => void lost++ })).jobs
        const gate = yield* Deferred.make<void>()
        const began = yield* Deferred.make<void>()
        before.declare(declared(() => Effect.andThen(Deferred.succeed(began, undefined), Deferred.await(gate))))
        yield* before.enqueue(row("a"))
        const attempt = yield* Effect.forkChild(before.poll)
        yield* Deferred.await(began)

        const after = yield* (yield* start()).jobs
        // The attempt of the process that lost the journal ends, and its outcome is not written.
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(attempt)
        expect((yield* rows)[0]).toMatchObject({ key: "a", attempt: 1 })

        const attempts: Array<number> = []
        after.declare(
          declared(({ attempt }) =>
            Effect.andThen(
              Effect.sync(() => attempts.push(attempt)),
              Effect.never
            )
          )
        )
        const running = yield* Effect.forkChild(after.run)
        while (attempts.length === 0) yield* Effect.sleep("10 millis")
        expect(attempts).toStrictEqual([2])

        // The row is given back and due. Only the epoch keeps the process that lost the journal from claiming it.
        yield* Fiber.interrupt(running)
        expect((yield* rows)[0]).toMatchObject({ key: "a", attempt: 1, due: 0 })
        expect(Exit.isFailure(yield* Effect.exit(before.poll))).toBe(true)
        expect(lost).toBe(1)
      }).pipe(Effect.scoped)
    )

    it.effect("a process that stops gives back what it has begun, as if it had not", () =>
      Effect.gen(function* () {
        const { rows, start } = yield* world
        const jobs = yield* (yield* start()).jobs
        const began = yield* Deferred.make<void>()
        jobs.declare(declared(() => Effect.andThen(Deferred.succeed(began, undefined), Effect.never)))
        yield* jobs.enqueue(row("a"))
        const running = yield* Effect.forkChild(jobs.run)
        yield* Deferred.await(began)
        yield* Fiber.interrupt(running)
        expect(yield* rows).toStrictEqual([{ key: "a", attempt: 0, due: 0, error: null }])
      }).pipe(Effect.scoped)
    )
  })

  describe("fairness", () => {
    for (const concurrency of [1, 4])
      it.effect(`a thousand due rows of one tenant do not delay another's one (${concurrency} at once)`, () =>
        Effect.gen(function* () {
          const { clock, sql, start } = yield* world
          const jobs = yield* (yield* start()).jobs
          const [busy, other] = [Ids.tenant(randomUUID()), Ids.tenant(randomUUID())]
          const order: Array<string | null> = []
          jobs.declare(declared(({ tenantId }) => Effect.sync(() => order.push(tenantId)), { concurrency }))
          yield* sql`
            INSERT INTO job (kind, key, partition, tenant_id, due_at, created_at)
            SELECT ${kind}, n::text, 0, ${busy}::text::uuid, ${clock.now()}, ${clock.now()} FROM generate_series(1, 1000) n`
          clock.pass(1)
          for (let n = 0; n < 3; n++) yield* jobs.poll
          yield* jobs.enqueue(row("one", other))
          yield* jobs.enqueue(row("sweep"))
          yield* jobs.poll
          yield* jobs.poll
          yield* jobs.poll
          expect(order.slice(3 * concurrency, 6 * concurrency)).toContain(other)
          expect(order.slice(3 * concurrency, 6 * concurrency)).toContain(null)
        }).pipe(Effect.scoped)
      )

    it.effect("a tenant whose rows take all places does not get the next ones that are free", () =>
      Effect.gen(function* () {
        const { clock, start } = yield* world
        const jobs = yield* (yield* start()).jobs
        const [busy, other] = [Ids.tenant(randomUUID()), Ids.tenant(randomUUID())]
        const began: Array<string | null> = []
        const first = yield* Deferred.make<void>()
        jobs.declare(
          declared(({ key, tenantId }) =>
            Effect.andThen(
              Effect.sync(() => began.push(tenantId)),
              key === "0" || key === "1" ? Deferred.await(first) : Effect.never
            )
          )
        )
        for (let n = 0; n < 9; n++) {
          yield* jobs.enqueue(row(`${n}`, busy))
          clock.pass(1)
        }
        yield* Effect.forkScoped(jobs.run)
        while (began.length < 4) yield* Effect.sleep("10 millis")
        yield* jobs.enqueue(row("one", other))
        yield* jobs.enqueue(row("two", other))
        yield* Deferred.succeed(first, undefined)
        while (began.length < 6) yield* Effect.sleep("10 millis")
        expect(began.slice(4)).toStrictEqual([other, other])
      }).pipe(Effect.scoped)
    )
  })

  describe("an outage of the database", () => {
    /** A runner whose way to the database can be cut, and the rows of its jobs as another way shows them. */
    const apart = Effect.gen(function* () {
      const url = new URL(Redacted.value(yield* TestDatabase.migrated))
      const eyes = yield* Layer.build(PgClient.layer({ url: Redacted.make(url.href), maxConnections: 2 }))
      yield* Effect.provide(Migrations.run, eyes)
      const proxy = yield* TcpProxy.make({ host: url.hostname, port: Number(url.port) })
      url.port = String(proxy.port)
      const context = yield* Layer.build(
        Jobs.layer().pipe(
          Layer.provideMerge(JournalWriter.layer({ partitions: [0], onLost: () => {} })),
          Layer.provide(
            PgClient.layer({
              ...RowConversion.settings,
              url: Redacted.make(url.href),
              maxConnections: 4,
              connectTimeout: "1 second"
            })
          )
        )
      )
      const jobs = yield* Effect.provide(Jobs, context)
      const rows = Effect.provide(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ readonly key: string }>`SELECT key FROM job ORDER BY key`),
        eyes
      )
      return { jobs, proxy, rows }
    })

    it.effect("in the middle of an attempt loses nothing: its outcome is written after it", () =>
      Effect.gen(function* () {
        const { jobs, proxy, rows } = yield* apart
        const began = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        const made: Array<string> = []
        jobs.declare(
          declared(
            ({ key }) =>
              Effect.sync(() => made.push(key)).pipe(
                Effect.andThen(Deferred.succeed(began, undefined)),
                Effect.andThen(key === "a" ? Deferred.await(gate) : Effect.void)
              ),
            { timeoutMs: 60_000 }
          )
        )
        yield* jobs.enqueue(row("a"))
        yield* Effect.forkScoped(jobs.run)
        yield* Deferred.await(began)
        proxy.cut()
        yield* Deferred.succeed(gate, undefined)
        yield* Effect.sleep("1500 millis")
        expect((yield* rows).length).toBe(1)
        proxy.restore()
        while ((yield* rows).length > 0) yield* Effect.sleep("50 millis")
        yield* jobs.enqueue(row("b"))
        while ((yield* rows).length > 0) yield* Effect.sleep("50 millis")
        expect(made).toStrictEqual(["a", "b"])
      }).pipe(Effect.scoped)
    )

    it.effect("in which the process stops is no fault, and the row is there for the next process", () =>
      Effect.gen(function* () {
        const { jobs, proxy, rows } = yield* apart
        const levels: Array<string> = []
        const logger = Logger.make(({ logLevel, message }) => void levels.push(`${logLevel} ${String(message)}`))
        const began = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        const work = Effect.andThen(Deferred.succeed(began, undefined), Deferred.await(gate))
        jobs.declare(declared(() => work, { timeoutMs: 60_000 }))
        yield* jobs.enqueue(row("a"))
        const running = yield* Effect.forkScoped(Effect.provide(jobs.run, Logger.layer([logger])))
        yield* Deferred.await(began)
        proxy.cut()
        yield* Deferred.succeed(gate, undefined)
        yield* Effect.sleep("500 millis")
        yield* Fiber.interrupt(running)
        expect(levels.filter((each) => each.includes("outcome"))).toEqual([
          "Info the outcome of job test.work a was not written"
        ])
        expect((yield* rows).length).toBe(1)
      }).pipe(Effect.scoped)
    )
  })
})
