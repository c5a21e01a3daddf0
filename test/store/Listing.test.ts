import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { CurrentTransformer } from "effect/sql/Statement"
import * as ApiKeyRepo from "../../src/apikey/ApiKeyRepo.ts"
import * as CallRepo from "../../src/call/CallRepo.ts"
import * as RouteRepo from "../../src/connection/RouteRepo.ts"
import * as Id from "../../src/domain/Id.ts"
import * as NumberRepo from "../../src/number/NumberRepo.ts"
import type * as Listing from "../../src/store/Listing.ts"
import * as WebhookRepo from "../../src/webhook/WebhookRepo.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

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

/** Every list that a tenant reads, and how one more row comes into it. */
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
          expect(yield* read(tenant)).toStrictEqual({ count: 0, results: [] })
          for (let n = 1; n <= 5; n++) yield* add(sql, tenant, tenants * 1_000 + n)
          const pages = yield* Effect.forEach([0, 2, 4], (offset) => read(tenant, { limit: 2, offset }))
          const whole = yield* read(tenant)
          expect(pages.flatMap(({ results }) => results.map(({ id }) => id))).toStrictEqual(
            whole.results.map(({ id }) => id)
          )
          expect([...pages, whole].map(({ count }) => count)).toStrictEqual([5, 5, 5, 5])
          expect(yield* read(tenant, { limit: 2, offset: 6 })).toStrictEqual({ count: 5, results: [] })
        })
    )
  })

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
