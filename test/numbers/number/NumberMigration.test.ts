import * as PgClient from "@effect/sql-pg/PgClient"
import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Id from "../../../src/domain/Id.ts"
import * as Migrations from "../../../src/runtime/store/Migrations.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const tenantId = Id.deriveUuid("before", "tenant")
const did = (name: string) => Id.derive(name, "did")

/** Numbers as the previous version wrote them, which had no renewals and no configuration. */
const before = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Migrations.runTo(22)
  yield* sql`INSERT INTO tenant (id, name, slug, status, created_at, updated_at)
    VALUES (${tenantId}, 'Before', 'before', 'active', now(), now())`
  const insert = (name: string, phone: string, status: string, activated: string | null, months: number) => sql`
    INSERT INTO phone_number (id, tenant_id, phone_number, country_code, number_type, status, features,
      upfront_cost_cents, monthly_cost_cents, activated_at, next_renewal_at, created_at, updated_at)
    VALUES (${did(name)}, ${tenantId}, ${phone}, 'US', 'local', ${status}, '{voice}', 100, 100, ${activated}::text::timestamptz,
      ${activated}::text::timestamptz + make_interval(months => ${months}), now(), now())`
  yield* insert("old", "+12025550150", "active", "2025-08-31T10:20:30.400Z", 1)
  yield* insert("leap", "+12025550151", "active", "2024-02-29T00:00:00.000Z", 1)
  yield* insert("released", "+12025550152", "released", null, 0)
  yield* insert("pending", "+12025550153", "pending", null, 0)
  yield* sql`INSERT INTO phone_number (id, tenant_id, phone_number, country_code, number_type, status, features,
      upfront_cost_cents, monthly_cost_cents, activated_at, next_renewal_at, created_at, updated_at)
    VALUES (${did("new")}, ${tenantId}, '+12025550154', 'US', 'local', 'active', '{voice}', 100, 100, now() - interval '1 day',
      now() + interval '27 days', now(), now())`
  yield* Migrations.run
})

describe("numbers of the version before (guide/numbers.md#renewals)", () => {
  layer(
    Layer.effectDiscard(before).pipe(
      Layer.provideMerge(
        Layer.unwrap(Effect.map(TestDatabase.empty, (url) => PgClient.layer({ url, maxConnections: 2 })))
      ),
      Layer.orDie
    ),
    { excludeTestServices: true, timeout: 60_000 }
  )((it) => {
    it.effect(
      "go on with the month to come, on the day of their activation, and owe nothing for the months before",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const now = Date.now()
          const rows = yield* sql<{
            readonly id: string
            readonly next: Date | null
            readonly check: Date | null
            readonly day: number
          }>`
          SELECT id, next_renewal_at AS next, check_at AS check,
            extract(day FROM next_renewal_at AT TIME ZONE 'UTC')::int AS day FROM phone_number`
          const row = (name: string) => rows.find(({ id }) => id === did(name)) ?? expect.unreachable(name)
          for (const name of ["old", "leap", "new"]) {
            const due = Number(row(name).next)
            expect(due).toBeGreaterThan(now)
            expect(due).toBeLessThanOrEqual(now + 31 * 86_400_000)
            expect(row(name).check).toEqual(row(name).next)
          }
          expect(row("old").day).toBeGreaterThanOrEqual(28)
          for (const name of ["released", "pending"]) expect(row(name)).toMatchObject({ next: null, check: null })
        })
    )
  })
})
