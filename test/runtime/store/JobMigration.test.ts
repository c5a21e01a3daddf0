import * as PgClient from "@effect/sql-pg/PgClient"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import * as Migrations from "../../../src/runtime/store/Migrations.ts"
import { init } from "../../../src/runtime/store/migration/0001_init.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

/** A database as the first version left it, with an order that it had not finished. */
const left = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Migrator.make({})({ loader: Migrator.fromRecord({ "0001_init": init }) })
  yield* sql`
    INSERT INTO tenant (id, name, slug, status, created_at, updated_at)
    VALUES ('7b8f3f0c-7a77-4a0e-9d0e-2f1f6f1f0a01', 'Acme', 'acme', 'active', now(), now())`
  for (const [id, status] of [
    ["svc_order_pending", "pending"],
    ["svc_order_done", "completed"]
  ])
    yield* sql`
      INSERT INTO number_order (id, tenant_id, status, country_code, number_type, phone_numbers, upfront_cost_cents,
        monthly_cost_cents, created_at)
      VALUES (${id}, '7b8f3f0c-7a77-4a0e-9d0e-2f1f6f1f0a01', ${status}, 'US', 'local',
        '[{"id": "svc_did_1", "phone_number": "+12025550150", "status": "pending", "failure_reason": null}]', 100, 100,
        now())`
})

it.live("an order that the version before left pending is due after the migration", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* left
    yield* Migrations.run
    const rows = yield* sql`
      SELECT kind, key, tenant_id::text AS tenant, attempt, due_at <= now() AS due, leased_by IS NULL AS free FROM job`
    expect(rows).toStrictEqual([
      {
        kind: "number_order.activation",
        key: "svc_order_pending",
        tenant: "7b8f3f0c-7a77-4a0e-9d0e-2f1f6f1f0a01",
        attempt: 0,
        due: true,
        free: true
      }
    ])
  }).pipe(
    (test) =>
      Effect.flatMap(TestDatabase.empty, (url) => Effect.provide(test, PgClient.layer({ url, maxConnections: 2 }))),
    Effect.scoped
  )
)
