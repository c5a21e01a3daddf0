import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as HeldPartitions from "../../../src/runtime/store/owner/HeldPartitions.ts"
import { Journal } from "../../../src/runtime/store/journal/Journal.ts"
import * as Advance from "../../../src/webhook/claim/Advance.ts"
import * as ClaimStatement from "../../../src/webhook/claim/ClaimStatement.ts"
import * as DeliveryQueue from "../../../src/webhook/claim/DeliveryQueue.ts"
import * as DueStatement from "../../../src/webhook/claim/DueStatement.ts"
import * as FanOut from "../../../src/webhook/claim/FanOut.ts"
import * as Ids from "../../support/Ids.ts"
import * as World from "../WebhookWorld.ts"

/** Endpoints of two partitions, alternating by name, each with one delivery that is due. */
const endpoints = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const homes = [yield* World.tenant(undefined, 0), yield* World.tenant(undefined, 1)]
  for (const home of [0, 1, 0, 1, 1, 0]) {
    const tenantId = homes[home] ?? Ids.tenant("")
    const { id } = yield* World.subscribe(tenantId, "https://hook.example")
    yield* World.commit(World.event(tenantId, World.call(), 1))
    yield* sql`UPDATE webhook_subscription SET is_active = false WHERE id = ${id}`
  }
  const rows = yield* sql<Where>`
    SELECT DISTINCT partition, tenant_id, destination AS endpoint FROM webhook_delivery
    WHERE due_at IS NOT NULL`
  expect(rows.length).toBe(6)
  return (partition: number) => rows.filter((row) => row.partition === partition)
})

type Where = Omit<DueStatement.Due, "dueForMs">

const due = (partition: number, from = "") =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql.unsafe<DueStatement.Due>(DueStatement.due, [partition, from]), (rows) =>
      rows.map(({ endpoint, partition, tenantId }): Where => ({ partition, tenantId, endpoint }))
    )
  )

interface Plan {
  readonly "Node Type": string
  readonly "Actual Rows": number
  readonly Plans?: ReadonlyArray<Plan>
}

const nodes = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodes)]

layer(World.layer, { timeout: "60 seconds", excludeTestServices: true })("The queue of deliveries", (it) => {
  it.effect("has due endpoints by partition, and steps over those of no other", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const of = yield* endpoints
      expect([...(yield* due(0))]).to.have.deep.members([...of(0)])
      expect([...(yield* due(1))]).to.have.deep.members([...of(1)])
      expect(yield* due(2)).toStrictEqual([])
      // The statement finds all of them, wherever it begins.
      for (const { endpoint } of of(0)) expect([...(yield* due(0, endpoint))]).to.have.deep.members([...of(0)])
      for (const partition of [0, 1]) {
        const [explained] = yield* sql.unsafe<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>(
          `EXPLAIN (ANALYZE, FORMAT JSON) ${DueStatement.due}`,
          [partition, ""]
        )
        const steps = (explained?.["QUERY PLAN"] ?? [])
          .flatMap(({ Plan }) => nodes(Plan))
          .filter((node) => node["Node Type"] === "Recursive Union")
          .map((node) => node["Actual Rows"])
        // The statement visits one tenant, each of its endpoints once, and no retries.
        expect(steps.toSorted((one, other) => one - other)).toStrictEqual([0, 0, 1, of(partition).length])
      }
    })
  )

  it.effect(
    "is claimed, concluded and filled behind a commit without waiting for the disk, which the commit does",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const held = HeldPartitions.parameters(yield* Journal)
        const tenantId = yield* World.tenant()
        const { id: endpoint } = yield* World.subscribe(tenantId, "https://hook.example")
        yield* World.commit(World.event(tenantId, World.call(), 1))
        const [row] = yield* World.rows(tenantId)
        const wanted = { partition: 0, tenantId, endpoint, capacity: 1, after: "", underWay: [] }
        const statements: ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> = [
          [ClaimStatement.claim, [JSON.stringify([wanted]), 1_000, ...held]],
          [DeliveryQueue.succeed, [JSON.stringify([{ id: row?.id, attemptNo: 1 }]), ...held]],
          [DeliveryQueue.conclude, [JSON.stringify([{ id: row?.id, attemptNo: 1 }])]],
          [FanOut.portion, [0, 0, tenantId]]
        ]
        for (const [text, parameters] of statements) {
          const within = Effect.gen(function* () {
            yield* sql`SET LOCAL synchronous_commit = on`
            yield* sql.unsafe(text, parameters)
            return yield* sql<{ readonly is: string }>`SELECT current_setting('synchronous_commit') AS is`
          })
          expect(yield* sql.withTransaction(within)).toStrictEqual([{ is: "off" }])
        }
      })
  )

  it.effect("gives a claim nothing of another partition", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const of = yield* endpoints
      const wanted = [of(0)[0], of(1)[0]].map((found) => ({
        partition: 0,
        tenantId: found?.tenantId,
        endpoint: found?.endpoint,
        capacity: 16,
        after: "",
        underWay: []
      }))
      const claimed = yield* sql.unsafe<ClaimStatement.ClaimedRow>(ClaimStatement.claim, [
        JSON.stringify(wanted),
        30_000,
        ...HeldPartitions.parameters(yield* Journal)
      ])
      expect(claimed.map(({ endpoint, id }) => ({ endpoint, given: id !== null }))).to.have.deep.members(
        wanted.map(({ endpoint }, index) => ({ endpoint: endpoint ?? "", given: index === 0 }))
      )
    })
  )

  it.effect("makes due again what was under way in one partition, and nothing in another or claimed since", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const of = yield* endpoints
      yield* sql`UPDATE webhook_delivery SET status = 'sending', due_at = now() + interval '31 seconds'`
      yield* sql.unsafe(DeliveryQueue.release, [1, null])
      expect(yield* due(1)).toStrictEqual([])
      yield* sql`UPDATE webhook_delivery SET due_at = now() + interval '29 seconds'`
      yield* sql.unsafe(DeliveryQueue.release, [1, null])
      expect(yield* due(0)).toStrictEqual([])
      expect([...(yield* due(1))]).to.have.deep.members([...of(1)])
    })
  )

  it.effect("gives nothing to a process that has lost the partition, and takes no success from it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const of = yield* endpoints
      const [first] = of(0)
      const wanted = [
        { partition: 0, tenantId: first?.tenantId, endpoint: first?.endpoint, capacity: 16, after: "", underWay: [] }
      ]
      const claim = (held: ReadonlyArray<string>) =>
        sql.unsafe<ClaimStatement.ClaimedRow>(ClaimStatement.claim, [JSON.stringify(wanted), 30_000, ...held])
      const ours = HeldPartitions.parameters(yield* Journal)
      const others = ["{0}", "{999}"]
      expect(yield* claim(others)).toStrictEqual([])
      const [claimed] = yield* claim(ours)
      const outcome = { id: claimed?.id, attemptNo: 1, statusCode: 200, bodySnippet: null, sentAt: 0 }
      const statusAfter = Effect.fnUntraced(function* (held: ReadonlyArray<string>) {
        yield* sql.unsafe(DeliveryQueue.succeed, [JSON.stringify([outcome]), ...held])
        return (yield* sql`SELECT status FROM webhook_delivery WHERE id = ${claimed?.id ?? null}`)[0]
      })
      expect(yield* statusAfter(others)).toStrictEqual({ status: "sending" })
      expect(yield* statusAfter(ours)).toStrictEqual({ status: "succeeded" })
    })
  )

  it.effect("follows a clock that was set back in portions, each delivery once, and goes on where it was stopped", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tenantId = yield* World.tenant(undefined, 0)
      yield* World.subscribe(tenantId, "https://hook.example")
      yield* World.commit(World.event(tenantId, World.call(), 1))
      yield* sql`
        INSERT INTO webhook_delivery (id, tenant_id, partition, event_id, event_type, subscription_id, destination, lane,
          sequence, status, in_lane, due_at, next_retry_at, created_at)
        SELECT gen_random_uuid(), tenant_id, partition, event_id, event_type, subscription_id, 'sub ' || n, lane, sequence,
          'queued', false, now() + n * interval '1 second' + interval '2 hours',
          now() + n * interval '1 second' + interval '2 hours', created_at
        FROM webhook_delivery, generate_series(1, 2500) n WHERE tenant_id = ${tenantId}`
      const waiting = sql<{ readonly destination: string; readonly dueAt: number }>`
        SELECT destination, due_at FROM webhook_delivery
        WHERE tenant_id = ${tenantId} AND NOT in_lane ORDER BY destination`
      const before = yield* waiting
      const failing = yield* failingAt(3)
      const follow = yield* Advance.make.pipe(Effect.provideService(SqlClient.SqlClient, failing))
      const step = { partition: 0, backMs: 3_600_000 }
      expect((yield* Effect.exit(follow(step)))._tag).toBe("Failure")
      expect(yield* follow(step)).toBe(step)
      expect(yield* waiting).toStrictEqual(
        before.map(({ destination, dueAt }) => ({ destination, dueAt: dueAt - 3_600_000 }))
      )
    })
  )
})

/** A database whose transaction with this number fails before it begins. */
const failingAt = (number: number) =>
  Effect.map(SqlClient.SqlClient, (sql) => {
    let transactions = 0
    return new Proxy(sql, {
      get: (target, name, receiver) =>
        name === "withTransaction"
          ? (effect: Effect.Effect<unknown>) =>
              Effect.suspend(() =>
                ++transactions === number ? Effect.die("no answer") : target.withTransaction(effect)
              )
          : Reflect.get(target, name, receiver)
    })
  })
