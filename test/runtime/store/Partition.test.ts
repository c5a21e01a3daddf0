import { describe, expect, layer } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Id from "../../../src/domain/Id.ts"
import { type Commit, empty, Journal } from "../../../src/runtime/store/journal/Journal.ts"
import * as ClaimedDeliveries from "../../../src/runtime/store/journal/ClaimedDeliveries.ts"
import * as JournalWriter from "../../../src/runtime/store/journal/JournalWriter.ts"
import { JournalLost } from "../../../src/runtime/store/owner/Ownership.ts"
import * as Ids from "../../support/Ids.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

let counter = 0
const tenant = Effect.fnUntraced(function* (home: number) {
  const sql = yield* SqlClient.SqlClient
  const id = Id.deriveUuid("partition test", "tenant", counter++)
  yield* sql`INSERT INTO tenant (id, name, slug, status, partition, webhook_failover_url, created_at, updated_at)
    VALUES (${id}, 'T', ${id}, 'active', ${home}, 'https://x.test', now(), now())`
  return id
})

const commit = (tenantId: Id.TenantId, id = Id.derive("partition test", "call", counter++)): Commit => ({
  ...empty,
  entities: [
    {
      id,
      kind: "call",
      tenantId,
      seq: 1,
      settled: false,
      stateVersion: 1,
      state: {},
      input: { at: 1_700_000_000_000, seed: "s", machineVersion: 1, body: {} }
    }
  ],
  events: [
    {
      id: Id.deriveTimeUuid(1_700_000_000_000, id, "event", 1),
      tenantId,
      entityId: id,
      lane: id,
      sequence: 1,
      type: "call.started",
      routeId: null,
      occurredAt: 1_700_000_000_000,
      body: "{}"
    }
  ]
})

const ofNobody = (key: string): Commit => ({
  ...empty,
  receipt: { owner: "o", key, method: "POST", path: "/", bodyHash: "h", status: 400, body: null, sealed: false, at: 0 }
})

/** Starts a process that holds these partitions; `lost` and `left` record the reported losses. */
const start = Effect.fnUntraced(function* (partitions: ReadonlyArray<number>) {
  const told: Array<{ readonly partition: number; readonly left: ReadonlyArray<number> }> = []
  const onLost = (error: JournalLost, left: ReadonlyArray<number>) =>
    void told.push({ partition: error.partition, left })
  const context = yield* Layer.build(JournalWriter.layer({ partitions, onLost }))
  return { journal: Context.get(context, Journal), told }
})

const lostPartition = (exit: Exit.Exit<unknown, unknown>): number | null => {
  if (Exit.isSuccess(exit)) return null
  const error = Cause.squash(exit.cause)
  return error instanceof JournalLost ? error.partition : -1
}

const there = Effect.fnUntraced(function* (commits: ReadonlyArray<Commit>) {
  const sql = yield* SqlClient.SqlClient
  const ids = commits.flatMap(({ entities }) => entities.map(({ id }) => id))
  const [row] = yield* sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM entity WHERE id IN ${sql.in(ids)}`
  return row?.n
})

describe("Partitions of the journal", () => {
  layer(TestDatabase.layer, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("everything of a tenant lives in the partition that the tenant names", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { journal } = yield* start([2, 7])
        const tenantId = yield* tenant(7)
        const made = commit(tenantId)
        const woken: Array<number> = []
        yield* journal.onDeliveries({
          ...ClaimedDeliveries.nobodyListens,
          made: ({ endpoints }) => void woken.push(...endpoints.map(({ partition }) => partition))
        })
        yield* Effect.all([journal.commit(made), journal.commit(commit(yield* tenant(2)))], { concurrency: 2 })
        const id = made.entities[0]?.id ?? Ids.call("")
        const rows = yield* sql<{ readonly at: number }>`
          SELECT partition AS at FROM entity WHERE id = ${id} UNION ALL
          SELECT partition FROM journal WHERE entity_id = ${id} UNION ALL
          SELECT partition FROM event WHERE entity_id = ${id} UNION ALL
          SELECT partition FROM webhook_delivery WHERE lane = ${id}`
        expect(rows.map(({ at }) => at)).toStrictEqual([7, 7, 7, 7])
        expect(woken).to.have.members([2, 7])
        expect((yield* journal.find(id))?.partition).toBe(7)
        expect((yield* journal.unsettled("call", 7)).map((entity) => entity.id)).toStrictEqual([id])
      }).pipe(Effect.scoped)
    )

    it.effect("a lost partition takes its commits with it; the others of their batch are durable", () =>
      Effect.gen(function* () {
        const { journal, told } = yield* start([10, 11])
        const dropped: Array<number> = []
        yield* journal.onPartitionLost((partition) => dropped.push(partition))
        const [mine, theirs] = [yield* tenant(10), yield* tenant(11)]
        const other = yield* start([11])
        const commits = Array.from({ length: 40 }, (_, n) => commit(n % 2 === 0 ? mine : theirs))
        const exits = yield* Effect.forEach(
          [...commits, ofNobody("batch")],
          (each) => Effect.exit(journal.commit(each)),
          {
            concurrency: "unbounded"
          }
        )
        expect(exits.map(lostPartition)).toStrictEqual([...commits.map((_, n) => (n % 2 === 0 ? null : 11)), null])
        expect(yield* there(commits.filter((_, n) => n % 2 === 0))).toBe(20)
        expect(yield* there(commits.filter((_, n) => n % 2 === 1))).toBe(0)
        expect(told).toStrictEqual([{ partition: 11, left: [10] }])
        expect(dropped).toStrictEqual([11])
        expect(journal.partitions()).toStrictEqual([10])
        yield* other.journal.commit(commit(theirs))
        expect(other.told).toStrictEqual([])
      }).pipe(Effect.scoped)
    )

    it.effect("what is of no tenant is written under any partition that is held, and under none when none is", () =>
      Effect.gen(function* () {
        const { journal, told } = yield* start([20, 21])
        yield* start([20])
        yield* journal.commit(ofNobody("one left"))
        yield* start([21])
        expect(lostPartition(yield* Effect.exit(journal.commit(ofNobody("none left"))))).toBe(21)
        expect(told.map(({ left }) => left)).toStrictEqual([[21], []])
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<{ readonly key: string }>`SELECT key FROM idempotency WHERE key LIKE '% left'`
        expect(rows).toStrictEqual([{ key: "one left" }])
      }).pipe(Effect.scoped)
    )

    it.effect("a tenant of a partition that was never held is refused, and nothing is lost by it", () =>
      Effect.gen(function* () {
        const { journal, told } = yield* start([30])
        const foreign = yield* tenant(31)
        expect(lostPartition(yield* Effect.exit(journal.commit(commit(foreign))))).toBe(31)
        const sql = yield* SqlClient.SqlClient
        const within = Effect.exit(sql.withTransaction(journal.commitWithin(commit(foreign))))
        expect(lostPartition(yield* within)).toBe(31)
        yield* journal.commit(commit(yield* tenant(30)))
        expect(told).toStrictEqual([])
      }).pipe(Effect.scoped)
    )

    it.effect("a commit of a tenant that is not there is refused, never dropped in silence", () =>
      Effect.gen(function* () {
        const { journal } = yield* start([40])
        const made = commit(Id.deriveUuid("nobody", "tenant"))
        for (const part of [made, { ...made, events: [] }, { ...made, entities: [] }])
          expect(lostPartition(yield* Effect.exit(journal.commit(part)))).toBe(-1)
      }).pipe(Effect.scoped)
    )
  })
})
