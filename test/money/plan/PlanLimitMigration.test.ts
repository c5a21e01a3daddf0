import * as PgClient from "@effect/sql-pg/PgClient"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrations from "../../../src/runtime/store/Migrations.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const [limited, free] = ["7b8f3f0c-7a77-4a0e-9d0e-2f1f6f1f0a01", "7b8f3f0c-7a77-4a0e-9d0e-2f1f6f1f0a02"]

/** The stored form of an account whose plan had overwritten the operator's 12 with 25. */
const stored = (tenantId: string | undefined) =>
  `{"seq": 3, "quota": {"dailySpendCapCents": 10000, "concurrentCallLimit": 25, "monthlySpendCapCents": 100000, "allowCallerIdForwarding": false, "webhookSubscriptionLimit": 50}, "status": "active", "tenantId": "${tenantId}", "suspensionReason": null}`

it.live("a plan that the version before wrote its limit for keeps it, and the quota has its own again", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* Migrations.runTo(47)
    yield* sql`
      INSERT INTO plan (slug, name, is_public, monthly_fee_cents, included, concurrent_call_limit, created_at)
      VALUES ('big', 'Big', true, 100, '{}', 25, now()), ('small', 'Small', true, 100, '{}', NULL, now())`
    for (const [id, slug, before] of [
      [limited, "big", 12],
      [free, "small", null]
    ]) {
      yield* sql`
        INSERT INTO tenant (id, name, slug, status, created_at, updated_at)
        VALUES (${id}, 'Acme', ${slug}, 'active', now(), now())`
      yield* sql`
        INSERT INTO entity (id, kind, tenant_id, seq, settled, state_version, state, updated_at, partition)
        VALUES (${id}, 'account', ${id}, 3, true, 1, ${stored(String(id))}::text::jsonb, now(), 0)`
      yield* sql`
        INSERT INTO plan_subscription (tenant_id, plan_slug, next_plan_slug, status, began_at, period_start, period_end, included,
          used, through_ordinal, limit_before, next_try_at, updated_at)
        VALUES (${id}, ${slug}, ${slug}, 'active', now(), now(), now(), '{}', '{}', 1, ${before}, now(), now())`
    }
    yield* Migrations.run
    const rows = yield* sql`
      SELECT s.plan_slug AS slug, s.concurrent_call_limit AS plan, (e.state #>> '{quota,concurrentCallLimit}')::int AS quota
      FROM plan_subscription s JOIN entity e ON e.id = s.tenant_id::text ORDER BY 1`
    expect(rows).toStrictEqual([
      { slug: "big", plan: 25, quota: 12 },
      { slug: "small", plan: null, quota: 25 }
    ])
  }).pipe(
    (test) =>
      Effect.flatMap(TestDatabase.empty, (url) => Effect.provide(test, PgClient.layer({ url, maxConnections: 2 }))),
    Effect.scoped
  )
)
