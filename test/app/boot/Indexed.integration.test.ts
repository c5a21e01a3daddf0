import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../../src/app/boot/Database.ts"
import * as Id from "../../../src/domain/Id.ts"
import { CommitClient } from "../../../src/runtime/store/CommitClient.ts"
import * as ClaimStatement from "../../../src/webhook/claim/ClaimStatement.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const tenant = Id.deriveUuid("tenant", "tenant")

const fill = (sql: SqlClient.SqlClient, rows: number, due: string) =>
  sql.unsafe(
    `INSERT INTO webhook_delivery (id, tenant_id, partition, event_id, event_type, destination, lane, sequence, status,
       due_at, in_lane, created_at)
     SELECT gen_random_uuid(), $1, 0, gen_random_uuid(), 'call.ended', 'd', 'l', n, 'delivered', ${due}, false, now()
     FROM generate_series(1, ${rows}) AS n`,
    [tenant]
  )

it.live("A claim finds its rows by an index, though the table grew a thousandfold since it was analysed", () =>
  Effect.gen(function* () {
    const url = yield* TestDatabase.empty
    const context = yield* Layer.build(Layer.fresh(Database.layer({ url })))
    yield* Effect.provide(Database.migrated, context)
    const sql = yield* Effect.provide(
      Effect.flatMap(CommitClient, (own) => (own === null ? SqlClient.SqlClient : Effect.succeed(own))),
      context
    )
    yield* sql.unsafe(`INSERT INTO tenant (id, name, slug, status, created_at, updated_at)
      VALUES ('${tenant}', 't', 't', 'active', now(), now())`)
    yield* fill(sql, 50, "now() + interval '1 hour'")
    yield* sql.unsafe("ANALYZE webhook_delivery")
    yield* fill(sql, 50_000, "NULL")
    const wanted: ReadonlyArray<ClaimStatement.Wanted> = [
      { partition: 0, tenantId: tenant, endpoint: "d", capacity: 16, after: "", underWay: [] }
    ]
    const plan = yield* sql.unsafe<{ readonly "QUERY PLAN": string }>(`EXPLAIN ${ClaimStatement.claim}`, [
      JSON.stringify(wanted),
      30_000,
      [0],
      ["1"]
    ])
    const scans = plan.map((row) => row["QUERY PLAN"]).filter((line) => / on webhook_delivery /.test(line))
    expect(scans.length).toBeGreaterThan(3)
    expect(scans.filter((line) => !/Index (?:Only )?Scan|Update on/.test(line))).toEqual([])
  }).pipe(Effect.scoped)
)
