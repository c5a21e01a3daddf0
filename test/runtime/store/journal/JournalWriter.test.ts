import { describe, expect, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Id from "../../../../src/domain/Id.ts"
import { type Commit, empty, Journal, type MoneyRow } from "../../../../src/runtime/store/journal/Journal.ts"
import { CommitClient } from "../../../../src/runtime/store/CommitClient.ts"
import * as ClaimedDeliveries from "../../../../src/runtime/store/journal/ClaimedDeliveries.ts"
import * as JournalWriter from "../../../../src/runtime/store/journal/JournalWriter.ts"
import * as WaitingCommit from "../../../../src/runtime/store/journal/WaitingCommit.ts"
import * as Ids from "../../../support/Ids.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"

const database = TestDatabase.layer
const live = JournalWriter.layer({ partitions: [0], onLost: () => {} }).pipe(Layer.provideMerge(database))

let counter = 0
const tenantOf = Effect.fnUntraced(function* (partition: number) {
  const sql = yield* SqlClient.SqlClient
  const id = Id.deriveUuid("journal test", "tenant", counter++)
  yield* sql`
    INSERT INTO tenant (id, name, slug, status, partition, created_at, updated_at)
    VALUES (${id}, 'T', ${id}, 'active', ${partition}, now(), now())`
  yield* sql`INSERT INTO balance (tenant_id, balance_cents, updated_at) VALUES (${id}, 0, now())`
  return id
})
const tenant = tenantOf(0)

const entity = (tenantId: Id.TenantId, id: Id.CallId, seq: number, state: unknown = { n: seq }): Commit => ({
  ...empty,
  entities: [
    {
      id,
      kind: "call",
      tenantId,
      seq,
      settled: false,
      stateVersion: 1,
      state,
      input: { at: 1_700_000_000_000 + seq, seed: "s", machineVersion: 1, body: { type: "x", seq } }
    }
  ]
})

const money = (tenantId: Id.TenantId, amountCents: number, n: number): MoneyRow => ({
  id: Id.derive(tenantId, "ledger", n),
  tenantId,
  cause: `${tenantId}:${n}`,
  type: "adjustment",
  amountCents,
  description: "test",
  referenceType: null,
  referenceId: null,
  at: 1_700_000_000_000
})

const event = (tenantId: Id.TenantId, id: Id.CallId, sequence: number, type = "call.started") => ({
  id: Id.deriveUuid(id, "event", sequence),
  tenantId,
  entityId: id,
  lane: id,
  sequence,
  type,
  routeId: null,
  occurredAt: 1_700_000_000_000,
  body: `{"sequence":${sequence}}`
})

layer(live, { timeout: "60 seconds", excludeTestServices: true })(
  "Journal, src/runtime/README.md#commit-before-anything-leaves",
  (it) => {
    it.effect("a commit's state and input are there when it completes", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const id = Id.derive("a", "call")
        yield* journal.commit(entity(yield* tenant, id, 1, { name: "first" }))
        yield* journal.commit({ ...entity(yield* tenant, id, 2, { name: "second" }) })
        expect((yield* journal.find(id))?.state).toStrictEqual({ name: "second" })
        expect((yield* journal.inputs(id)).map((input) => input.seq)).toStrictEqual([1, 2])
      })
    )

    it.effect("commits of many fibers all arrive, in batches", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const tenantId = yield* tenant
        const ids = Array.from({ length: 300 }, (_, index) => Id.derive("many", "call", index))
        yield* Effect.forEach(ids, (id) => journal.commit(entity(tenantId, id, 1)), { concurrency: 64, discard: true })
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql<{
          readonly n: number
        }>`SELECT count(*)::int AS n FROM entity WHERE tenant_id = ${tenantId}`
        expect(row?.n).toBe(300)
      })
    )

    it.effect(
      "where there are many, what nobody waits for gathers behind a statement, and what somebody waits for does not",
      () =>
        Effect.gen(function* () {
          const journal = yield* Journal
          const sql = yield* SqlClient.SqlClient
          const tenantId = yield* tenant
          let nth = 0
          const next = () => entity(tenantId, Id.derive("gathers", "call", nth++), 1)
          /**
           * True when a commit shares its statement with another one that comes a millisecond later, after many others.
           */
          const isGathered = Effect.fnUntraced(function* (commit: (commit: Commit) => Effect.Effect<unknown, unknown>) {
            yield* Effect.forEach(Array.from({ length: 16 }, next), (one) => journal.commit(one), { concurrency: 16 })
            const [first, second] = [next(), next()]
            const started = yield* Effect.forkChild(commit(first), { startImmediately: true })
            yield* Effect.sleep(1)
            yield* journal.commit(second)
            yield* Fiber.join(started)
            const ids = [first, second].flatMap(({ entities }) => entities.map(({ id }) => id))
            const statements = yield* sql`SELECT DISTINCT xmin::text FROM entity WHERE id IN ${sql.in(ids)}`
            return statements.length === 1
          })
          // It is repeated because a pause of the machine may make many commits look like few.
          const some = Effect.repeat(isGathered(journal.commit), { until: (gathered) => gathered, times: 20 })
          expect(yield* some).toBe(true)
          expect(yield* isGathered(journal.commitAsked)).toBe(false)
          expect(yield* isGathered((commit) => journal.commitWhile(commit, () => true, true))).toBe(false)
        })
    )

    it.effect("a thousand commits of one tenant delay another's one by a batch, and come in their order", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const [loud, quiet] = [yield* tenant, yield* tenant]
        const written: Array<number> = []
        const commit = (tenantId: Id.TenantId, nth: number) =>
          Effect.map(journal.commit(entity(tenantId, Id.derive("turns", "call", nth), 1)), () => void written.push(nth))
        const fibers = yield* Effect.forEach([...Array(1_000).keys()], (nth) =>
          Effect.forkChild(commit(loud, nth), { startImmediately: true })
        )
        fibers.push(yield* Effect.forkChild(commit(quiet, 1_000), { startImmediately: true }))
        yield* Effect.forEach(fibers, Fiber.join, { discard: true })
        expect(written.indexOf(1_000)).toBeLessThan(2 * WaitingCommit.batchLimit)
        expect(written.filter((nth) => nth < 1_000)).toStrictEqual([...Array(1_000).keys()])
      })
    )

    it.effect("closing waits until all tenants' commits are written", () =>
      Effect.gen(function* () {
        const tenants = [yield* tenantOf(1), yield* tenantOf(1), yield* tenantOf(1)]
        const ids = [...Array(600).keys()].map((nth) => Id.derive("closing", "call", nth))
        yield* Effect.gen(function* () {
          const journal = yield* Journal
          for (const [nth, id] of ids.entries())
            yield* Effect.forkDetach(journal.commit(entity(tenants[nth % 3] ?? Ids.tenant(""), id, 1)), {
              startImmediately: true
            })
        }).pipe(Effect.provide(Layer.fresh(JournalWriter.layer({ partitions: [1], onLost: () => {} }))))
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql`SELECT FROM entity WHERE tenant_id = ANY (${tenants}::uuid[])`
        expect(rows.length).toBe(600)
      })
    )

    it.effect("the ledger's sum is the balance at every row, whatever came together in a batch", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const sql = yield* SqlClient.SqlClient
        const tenants = [yield* tenant, yield* tenant, yield* tenant]
        const rows = Array.from({ length: 120 }, (_, n) =>
          money(tenants[n % 3] ?? Ids.tenant(""), ((n * 37) % 101) - 40, n)
        )
        const answers = yield* Effect.forEach(rows, (row) => journal.commit({ ...empty, money: [row] }), {
          concurrency: 50
        })
        for (const tenantId of tenants) {
          const ledger = yield* sql<{ readonly amount: number; readonly after: number }>`
          SELECT amount_cents::int AS amount, balance_after_cents::int AS after FROM ledger WHERE tenant_id = ${tenantId} ORDER BY ordinal`
          let sum = 0
          for (const { after, amount } of ledger) expect(after).toBe((sum += amount))
          const [balance] = yield* sql<{
            readonly cents: number
          }>`SELECT balance_cents::int AS cents FROM balance WHERE tenant_id = ${tenantId}`
          expect(balance?.cents).toBe(sum)
          expect(ledger.length).toBe(40)
        }
        for (const answer of answers) expect(answer.balanceCents).not.toBeNull()
      })
    )

    it.effect("a refused row fails its own commit only", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const tenantId = yield* tenant
        const twice = Id.derive("twice", "call")
        yield* journal.commit(entity(tenantId, twice, 1))
        const exits = yield* Effect.forEach(
          [
            entity(tenantId, twice, 1),
            ...Array.from({ length: 20 }, (_, n) => entity(tenantId, Id.derive("fine", "call", n), 1))
          ],
          (commit) => Effect.exit(journal.commit(commit)),
          { concurrency: "unbounded" }
        )
        expect(exits.map(Exit.isSuccess)).toStrictEqual([false, ...Array.from({ length: 20 }, () => true)])
      })
    )

    it.effect("a refusal is none of an outage, whatever its message repeats", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const id = Id.derive("looks like an outage", "call")
        const exit = yield* Effect.exit(journal.commit(entity(Ids.tenant("53 connections closed"), id, 1)))
        expect(Exit.isFailure(exit)).toBe(true)
        expect(yield* journal.unavailableForMs).toBe(0)
      }).pipe(Effect.timeout("20 seconds"))
    )

    it.effect("the first response to a key stands for its 24 hours, then another may take its place", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const sql = yield* SqlClient.SqlClient
        const at = 1_700_000_000_000
        const place = { owner: "key", key: "k", method: "POST", path: "/v1/x", bodyHash: "h", sealed: false }
        const store = (body: string, afterMs: number) =>
          journal.commit({ ...empty, receipt: { ...place, status: 201, body, at: at + afterMs } })
        const bodies = Effect.map(
          sql<{ readonly body: string }>`SELECT body FROM idempotency WHERE owner = 'key'`,
          (rows) => rows.map((row) => row.body)
        )
        yield* store("first", 0)
        yield* store("second", 1_000)
        expect(yield* bodies).toStrictEqual(["first"])
        yield* store("a day later", 24 * 3_600_000)
        expect(yield* bodies).toStrictEqual(["a day later"])
      })
    )

    it.effect("strings that Postgres cannot hold are replaced, not refused", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const id = Id.derive("nul", "call")
        yield* journal.commit(entity(yield* tenant, id, 1, { reference: "a\u0000b\ud800c", plain: "\\u0000" }))
        expect((yield* journal.find(id))?.state).toStrictEqual({ reference: "a\ufffdb\ufffdc", plain: "\\u0000" })
      })
    )

    it.effect("an event becomes a delivery for each active subscription that names it, and wakes the dispatcher", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const sql = yield* SqlClient.SqlClient
        const tenantId = yield* tenant
        const subscribe = (n: number, types: ReadonlyArray<string>, active: boolean, connection: string | null) =>
          sql`INSERT INTO webhook_subscription (id, tenant_id, target_url, event_types, connection_id, signing_secret, is_active, created_at)
          VALUES (${`sub-${tenantId}-${n}`}, ${tenantId}, 'https://x.test', ${[...types]}, ${connection}, 's', ${active}, now())`
        yield* subscribe(1, ["*"], true, null)
        yield* subscribe(2, ["call.started"], true, null)
        yield* subscribe(3, ["call.ended"], true, null)
        yield* subscribe(4, ["*"], false, null)
        yield* subscribe(5, ["*"], true, "svc_route_of_others")
        const woken: Array<string> = []
        yield* journal.onDeliveries({
          ...ClaimedDeliveries.nobodyListens,
          made: ({ endpoints }) => void woken.push(...endpoints.map(({ endpoint }) => endpoint ?? ""))
        })
        const id = Id.derive("fan", "call")
        yield* journal.commit({ ...entity(tenantId, id, 1), events: [event(tenantId, id, 1)] })
        const rows = yield* sql<{ readonly destination: string; readonly status: string }>`
        SELECT destination, status FROM webhook_delivery WHERE tenant_id = ${tenantId} ORDER BY destination`
        expect(rows.map((row) => row.destination)).toStrictEqual([`sub-${tenantId}-1`, `sub-${tenantId}-2`])
        expect(woken.toSorted()).toStrictEqual([`sub-${tenantId}-1`, `sub-${tenantId}-2`])
      })
    )

    it.effect("an event that matches no subscription goes to the failover URL", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const sql = yield* SqlClient.SqlClient
        const tenantId = yield* tenant
        yield* sql`UPDATE tenant SET webhook_failover_url = 'https://x.test' WHERE id = ${tenantId}`
        const id = Id.derive("failover", "call")
        yield* journal.commit({ ...entity(tenantId, id, 1), events: [event(tenantId, id, 1)] })
        const rows = yield* sql<{ readonly destination: string; readonly sub: string | null }>`
        SELECT destination, subscription_id AS sub FROM webhook_delivery WHERE tenant_id = ${tenantId}`
        expect(rows).toStrictEqual([{ destination: `failover:${tenantId}`, sub: null }])
      })
    )

    it.effect("a delivery's id begins with the time of its event (RFC 9562 section 5.7)", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const sql = yield* SqlClient.SqlClient
        const tenantId = yield* tenant
        yield* sql`UPDATE tenant SET webhook_failover_url = 'https://x.test' WHERE id = ${tenantId}`
        const id = Id.derive("delivery id", "call")
        yield* journal.commit({ ...entity(tenantId, id, 1), events: [event(tenantId, id, 1), event(tenantId, id, 2)] })
        const rows = yield* sql<{ readonly id: string }>`
          SELECT id::text AS id FROM webhook_delivery WHERE tenant_id = ${tenantId}`
        expect(new Set(rows.map((row) => row.id)).size).toBe(2)
        for (const row of rows) {
          expect(row.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u)
          expect(Number.parseInt(row.id.replaceAll("-", "").slice(0, 12), 16)).toBe(1_700_000_000_000)
        }
      })
    )

    it.effect("a transaction that fails leaves nothing of its commit", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const sql = yield* SqlClient.SqlClient
        const tenantId = yield* tenant
        const within = sql.withTransaction(
          Effect.andThen(
            journal.commitWithin({ ...empty, money: [money(tenantId, 500, 1)] }),
            Effect.fail("changed its mind")
          )
        )
        expect(Exit.isFailure(yield* Effect.exit(within))).toBe(true)
        const [row] = yield* sql<{
          readonly n: number
        }>`SELECT count(*)::int AS n FROM ledger WHERE tenant_id = ${tenantId}`
        expect(row?.n).toBe(0)
      })
    )
  }
)

describe("One writer, one owner", () => {
  layer(database, { timeout: "60 seconds", excludeTestServices: true })("with two processes", (it) => {
    it.effect("who holds an older epoch writes nothing", () =>
      Effect.gen(function* () {
        const lost: Array<string> = []
        const first = yield* Layer.build(
          JournalWriter.layer({ partitions: [0], onLost: (error) => lost.push(error.message) })
        )
        const second = yield* Layer.build(JournalWriter.layer({ partitions: [0], onLost: () => {} }))
        const tenantId = yield* tenant
        const id = Id.derive("epoch", "call")
        const commit = (context: typeof first, seq: number) =>
          Effect.exit(
            Effect.provide(
              Effect.flatMap(Journal, (journal) => journal.commit(entity(tenantId, id, seq))),
              context
            )
          )
        expect(Exit.isFailure(yield* commit(first, 1))).toBe(true)
        expect(lost.length).toBe(1)
        expect(Exit.isSuccess(yield* commit(second, 1))).toBe(true)
      }).pipe(Effect.scoped)
    )
  })
})

/** A client whose next statement of a batch is answered without a row, and is not carried out. */
const withoutRow = (sql: SqlClient.SqlClient): SqlClient.SqlClient => {
  let isNext = true
  const unsafe = ((text: string, parameters?: ReadonlyArray<unknown>) => {
    if (!isNext || !text.includes("INSERT INTO journal ")) return sql.unsafe(text, parameters)
    isNext = false
    return Effect.succeed([])
  }) as SqlClient.SqlClient["unsafe"]
  return Object.assign(((...of: Parameters<typeof sql>) => sql(...of)) as SqlClient.SqlClient, sql, { unsafe })
}

const answeredWithoutRow = live.pipe(
  Layer.provide(Layer.effect(CommitClient, Effect.map(SqlClient.SqlClient, withoutRow))),
  Layer.provideMerge(database)
)

layer(answeredWithoutRow)("A statement that is answered without its row", (it) => {
  it.effect("is never taken for written, so no number of an event is left out", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const id = Ids.call("without a row")
      const exit = yield* Effect.exit(journal.commit(entity(yield* tenant, id, 1)))
      expect([Exit.isSuccess(exit), yield* journal.find(id)]).toEqual([false, null])
    })
  )
})
