import { describe, expect, layer } from "@effect/vitest"
import { Cause, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { CurrentTransformer } from "effect/sql/Statement"
import * as ApiKeyRepo from "../../../../src/tenancy/apikey/ApiKeyRepo.ts"
import * as CallRepo from "../../../../src/telephony/call/stored/CallRepo.ts"
import * as RouteRepo from "../../../../src/numbers/trunk/RouteRepo.ts"
import * as Id from "../../../../src/domain/Id.ts"
import * as NumberRepo from "../../../../src/numbers/number/NumberRepo.ts"
import * as Listing from "../../../../src/runtime/store/list/Listing.ts"
import * as WebhookRepo from "../../../../src/webhook/subscription/WebhookRepo.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"

type Sql = SqlClient.SqlClient
const all = { limit: 100, offset: 0 }
const at = Date.UTC(2026, 0, 31)

interface List {
  readonly name: string
  readonly read: (
    tenant: Id.TenantId,
    window?: Listing.Window
  ) => Effect.Effect<Listing.Page<{ readonly id: string }>, SqlError, Sql>
  readonly add: (sql: Sql, tenant: Id.TenantId, n: number) => Effect.Effect<unknown, SqlError>
}

/** Every list that a tenant reads, and how a row is added to it. */
const lists: ReadonlyArray<List> = [
  {
    name: "API keys",
    read: (tenant, window = all) => Effect.flatMap(ApiKeyRepo.make, (repo) => repo.list(tenant, window)),
    add: (sql, tenant, n) => sql`
      INSERT INTO api_key (id, tenant_id, name, prefix, salt, hash, scopes, created_at)
      VALUES (${Id.deriveUuid(`key ${n}`, "api_key")}, ${tenant}, 'k', 'p', 's', 'h', '{}', to_timestamp(${at / 1000}))`
  },
  {
    name: "connections",
    read: (tenant, window = all) => Effect.flatMap(RouteRepo.make, (repo) => repo.list(tenant, window)),
    add: (sql, tenant, n) => sql`
      INSERT INTO route (id, tenant_id, name, is_default, status, adapter, created_at)
      VALUES (${Id.derive(`${n}`, "route")}, ${tenant}, 'r', false, 'active', 'sip', to_timestamp(${at / 1000}))`
  },
  {
    name: "calls",
    read: (tenant, window = all) => Effect.flatMap(CallRepo.make, (repo) => repo.list(tenant, {}, window)),
    add: (sql, tenant, n) => sql`
      INSERT INTO call (id, tenant_id, direction, status, from_number, to_number, route_id, initiated_at, duration_seconds,
        rating_status)
      VALUES (${Id.derive(`${n}`, "call")}, ${tenant}, 'outbound', 'ended', '+1', '+2', 'r', to_timestamp(${at / 1000}), 0,
        'rated')`
  },
  {
    name: "number orders",
    read: (tenant, window = all) => Effect.flatMap(NumberRepo.make, (repo) => repo.listOrders(tenant, {}, window)),
    add: (sql, tenant, n) => sql`
      INSERT INTO number_order (id, tenant_id, status, country_code, number_type, phone_numbers, upfront_cost_cents,
        monthly_cost_cents, created_at)
      VALUES (${Id.derive(`${n}`, "order")}, ${tenant}, 'completed', 'US', 'local', '[]', 0, 0, to_timestamp(${at / 1000}))`
  },
  {
    name: "numbers",
    read: (tenant, window = all) => Effect.flatMap(NumberRepo.make, (repo) => repo.list(tenant, {}, window)),
    add: (sql, tenant, n) => sql`
      INSERT INTO phone_number (id, tenant_id, phone_number, country_code, number_type, status, features,
        upfront_cost_cents, monthly_cost_cents, created_at, updated_at)
      VALUES (${Id.derive(`${n}`, "did")}, ${tenant}, ${`+1${n}`}, 'US', 'local', 'active', '{}', 0, 0,
        to_timestamp(${at / 1000}), now())`
  },
  {
    name: "subscriptions",
    read: (tenant, window = all) => Effect.flatMap(WebhookRepo.make, (repo) => repo.list(tenant, window)),
    add: (sql, tenant, n) => sql`
      INSERT INTO webhook_subscription (id, tenant_id, target_url, event_types, signing_secret, is_active, created_at)
      VALUES (${Id.derive(`${n}`, "sub")}, ${tenant}, 'https://a', '{*}', 's', true, to_timestamp(${at / 1000}))`
  },
  {
    name: "deliveries",
    read: (tenant, window = all) => Effect.flatMap(WebhookRepo.make, (repo) => repo.deliveries(tenant, {}, window)),
    add: (sql, tenant, n) => sql`
      INSERT INTO webhook_delivery (id, tenant_id, partition, event_id, event_type, destination, lane, sequence, status, created_at)
      VALUES (${Id.deriveUuid(`delivery ${n}`, "event")}, ${tenant}, 0, ${Id.deriveUuid(`event ${n}`, "event")}, 'call.ended', 'd',
        'l', 1, 'failed', to_timestamp(${at / 1000}))`
  }
]

interface Plan {
  readonly "Node Type": string
  readonly "Actual Rows": number
  readonly Plans?: ReadonlyArray<Plan>
}

const nodes = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodes)]

let tenants = 0
const newTenant = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const id = Id.deriveUuid(`tenant ${++tenants}`, "tenant")
  yield* sql`INSERT INTO tenant (id, name, slug, status, created_at, updated_at)
    VALUES (${id}, 't', ${id}, 'active', now(), now())`
  return id
})

layer(TestDatabase.layer, { excludeTestServices: true })("a page of a list", (it) => {
  describe("count and results are of one moment", () => {
    it.effect.each(lists)("$name: whatever is written between its statements", ({ add, read }) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* newTenant
        let written = tenants * 1_000
        yield* add(sql, tenant, ++written)
        // Each statement of the list finds one row more than the one before it.
        const writing = Effect.provideService(read(tenant), CurrentTransformer, (statement) =>
          Effect.as(
            Effect.orDie(
              Effect.provideService(
                Effect.suspend(() => add(sql, tenant, ++written)),
                CurrentTransformer,
                undefined
              )
            ),
            statement
          )
        )
        const { count, results } = yield* writing
        expect(results.length).toBe(count)
      })
    )
  })

  describe("pages", () => {
    it.effect.each(lists)(
      "$name: follow each other without a gap; beyond the last one the count is still there",
      ({ add, read }) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const tenant = yield* newTenant
          expect(yield* read(tenant)).toStrictEqual({ count: 0, results: [], next: null })
          for (let n = 1; n <= 5; n++) yield* add(sql, tenant, tenants * 1_000 + n)
          const pages = yield* Effect.forEach([0, 2, 4], (offset) => read(tenant, { limit: 2, offset }))
          const whole = yield* read(tenant)
          expect(pages.flatMap(({ results }) => results.map(({ id }) => id))).toStrictEqual(
            whole.results.map(({ id }) => id)
          )
          expect([...pages, whole].map(({ count }) => count)).toStrictEqual([5, 5, 5, 5])
          expect(yield* read(tenant, { limit: 2, offset: 6 })).toStrictEqual({ count: 5, results: [], next: null })
          const walked: Array<string> = []
          for (let after: string | null = ""; after !== null;) {
            const page: Listing.Page<{ readonly id: string }> = yield* read(
              tenant,
              after === "" ? { limit: 2, offset: 0 } : { limit: 2, offset: 0, after }
            )
            expect(page.count).toBe(5)
            walked.push(...page.results.map(({ id }) => id))
            after = page.next
          }
          expect(walked).toStrictEqual(whole.results.map(({ id }) => id))
        })
    )
  })

  it.effect.each(lists)("$name: a cursor that the list did not give is a 400", ({ read }) =>
    Effect.gen(function* () {
      const tenant = yield* newTenant
      for (const after of ["x", "-1", "1~", "1~a'b", "99999999999999999999", "~", "1.5"]) {
        const defect = yield* Effect.flip(Effect.sandbox(read(tenant, { limit: 2, offset: 0, after })))
        expect(Cause.squash(defect)).toMatchObject({ code: "invalid_request", param: "cursor" })
      }
    })
  )

  describe("a list that is longer than what one answer looks at", () => {
    const rows = 25_000
    const long = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tenant = yield* newTenant
      // Every 6,000th delivery has failed.
      yield* sql`
        INSERT INTO webhook_delivery (id, tenant_id, partition, event_id, event_type, destination, lane, sequence, status,
          created_at)
        SELECT gen_random_uuid(), ${tenant}, 0, gen_random_uuid(), 'call.ended', 'd', 'l', n,
          CASE WHEN n % 6000 = 0 THEN 'failed' ELSE 'succeeded' END, to_timestamp(${at / 1000}) + n * interval '1 second'
        FROM generate_series(1, ${rows}::int) AS n`
      return { sql, tenant, repo: yield* WebhookRepo.make }
    })
    const walk = Effect.fnUntraced(function* (
      read: (after: string | null) => Effect.Effect<Listing.Page<unknown>, SqlError>
    ) {
      const pages: Array<number> = []
      for (let after: string | null = "", turns = 0; after !== null && turns < 200; turns++) {
        const page: Listing.Page<unknown> = yield* read(after === "" ? null : after)
        pages.push(page.results.length)
        after = page.next
      }
      return pages
    })
    const window = (limit: number, after: string | null): Listing.Window =>
      after === null ? { limit, offset: 0 } : { limit, offset: 0, after }

    it.effect("counts up to there, and goes on from page to page to its end", () =>
      Effect.gen(function* () {
        const { repo, tenant } = yield* long
        const first = yield* repo.deliveries(tenant, {}, window(200, null))
        expect(first.count).toBe(Listing.looked)
        const pages = yield* walk((after) => repo.deliveries(tenant, {}, window(200, after)))
        expect(pages.reduce((sum, length) => sum + length, 0)).toBe(rows)
        const beyond = yield* repo.deliveries(tenant, {}, { limit: 200, offset: Listing.looked })
        expect([beyond.results.length, beyond.next === null]).toEqual([0, false])
      })
    )

    it.effect("handles no more rows than it shows, but for the index that it counts in", () =>
      Effect.gen(function* () {
        const { repo, sql, tenant } = yield* long
        const plans: Array<ReadonlyArray<Plan>> = []
        const explaining = (offset: number) =>
          Effect.provideService(repo.deliveries(tenant, {}, { limit: 200, offset }), CurrentTransformer, (statement) =>
            Effect.gen(function* () {
              const [text, parameters] = statement.compile()
              const [explained] = yield* Effect.orDie(
                sql.unsafe<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>(
                  `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
                  parameters
                )
              )
              plans.push((explained?.["QUERY PLAN"] ?? []).flatMap(({ Plan }) => nodes(Plan)))
              return statement
            }).pipe(Effect.provideService(CurrentTransformer, undefined))
          )
        for (const offset of [0, 6_000]) yield* explaining(offset)
        const most = (kinds: ReadonlyArray<string>) =>
          plans.map((plan) =>
            Math.max(0, ...plan.filter((node) => kinds.includes(node["Node Type"])).map((node) => node["Actual Rows"]))
          )
        expect(most(["CTE Scan", "WindowAgg", "Nested Loop"])).toEqual([201, 201])
      })
    )

    it.effect("looks for what a filter asks in as many rows, and goes on behind them", () =>
      Effect.gen(function* () {
        const { repo, tenant } = yield* long
        const pages = yield* walk((after) => repo.deliveries(tenant, { status: "failed" }, window(20, after)))
        // The pages cover the rows 25,000 to 15,001, then to 5,001, and then the rest.
        expect(pages).toEqual([2, 2, 0])
        const late = { createdAfterMs: at + 24_000_000 }
        const recent = yield* repo.deliveries(tenant, late, window(20, null))
        expect([recent.count, recent.results.length]).toEqual([1_000, 20])
        const ended = yield* walk((after) => repo.deliveries(tenant, { ...late, status: "failed" }, window(20, after)))
        expect(ended).toEqual([0])
      })
    )
  })

  it.effect("a tenant's slow lists hold up another tenant's by one turn, and those nobody waits for are not read", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* Listing.reader
      const [loud, quiet] = [yield* newTenant, yield* newTenant]
      const done: Array<string> = []
      const list = (tenantId: Id.TenantId, name: string, secs: number) =>
        Effect.tap(
          read({
            tenantId,
            columns: sql`id`,
            from: sql`(SELECT ${name}::text AS id, 1 AS ordinal FROM pg_sleep(${secs}::float8)) AS slow`,
            where: sql`true`,
            order: Listing.byOrdinal(sql),
            window: { limit: 1, offset: 0 },
            item: (row) => row
          }),
          () => Effect.sync(() => done.push(name))
        )
      const slow = yield* Effect.forEach(Array.from({ length: 30 }), (_, n) =>
        Effect.forkChild(list(loud, `slow ${n}`, 0.1), { startImmediately: true })
      )
      const fast = yield* Effect.forkChild(list(quiet, "fast", 0), { startImmediately: true })
      yield* Fiber.interruptAll(slow.slice(4))
      yield* Effect.forEach([...slow.slice(0, 4), fast], Fiber.join)
      expect(done.indexOf("fast")).toBeLessThanOrEqual(2)
      expect(done.toSorted()).toEqual(["fast", "slow 0", "slow 1", "slow 2", "slow 3"])
    })
  )

  it.effect("leaves out, after a moment, what is shown as that moment", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tenant = yield* newTenant
      for (const [n, micros] of [0, 1, 999, 1_000].entries()) {
        yield* sql`INSERT INTO call (id, tenant_id, direction, status, from_number, to_number, route_id, initiated_at,
            duration_seconds, rating_status)
          VALUES (${Id.derive(`after ${n}`, "call")}, ${tenant}, 'outbound', 'ended', '+1', '+2', 'r',
            to_timestamp(${at / 1000}) + ${micros}::int * interval '1 microsecond', 0, 'rated')`
      }
      const { count } = yield* Effect.flatMap(CallRepo.make, (repo) => repo.list(tenant, { initiatedAfterMs: at }, all))
      expect(count).toBe(1)
    })
  )
})
