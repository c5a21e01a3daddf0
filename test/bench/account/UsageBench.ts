import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { StatementLimit } from "../../../src/runtime/store/StatementLimit.ts"
import { figures } from "../../../src/runtime/store/usage/UsageRow.ts"
import { type Grouping, groupings, Usages } from "../../../src/money/usage/Usage.ts"
import * as Database from "../load/Database.ts"
import * as Report from "../Report.ts"
import * as Rounds from "../Rounds.ts"
import * as Service from "../load/Service.ts"
import * as Seed from "./Seed.ts"

const reports = 500
/** How many commits wait for their place in the sums: those of ten seconds at 500 ended calls a second. */
const waiting = 5_000

/** A report for each of the tenants in turn, over a million calls of a hundred tenants, in each grouping. */
export const run = Effect.gen(function* () {
  const url = yield* Database.fresh
  const context = yield* Layer.build(Service.layer(url, Service.nowhere))
  return yield* measure.pipe(Effect.provide(context))
})

/** The number of seeded calls that the sums hold. */
const counted = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const zeros = figures.map((figure) => `${figure} bigint DEFAULT 0`).join(", ")
  yield* sql.unsafe(
    `CREATE TEMPORARY TABLE seeded (id text, tenant_id uuid, at timestamptz, customer_reference text, number text, destination text, ${zeros})`
  )
  yield* sql`
    INSERT INTO seeded (id, tenant_id, at, customer_reference, number, destination, outbound_calls, inbound_calls, answered_calls,
      call_seconds, billed_minutes)
    SELECT id, tenant_id, ended_at, customer_reference, from_number, 'US', (direction = 'outbound')::int,
      (direction = 'inbound')::int, (answered_at IS NOT NULL)::int, duration_seconds, ceil(duration_seconds / 60.0) FROM call`
  yield* sql`
    INSERT INTO seeded (id, tenant_id, at, customer_reference, number, destination, cost_cents)
    SELECT l.id, l.tenant_id, l.created_at, c.customer_reference, c.from_number, 'US', -l.amount_cents
    FROM ledger l JOIN call c ON c.id = l.reference_id WHERE l.type = 'call_charge'`
  const names = figures.join(", ")
  yield* sql.unsafe(`INSERT INTO usage_detail (id, tenant_id, at, customer_reference, number, destination, ${names})
    SELECT id, tenant_id, at, customer_reference, number, destination, ${names} FROM seeded`)
  yield* sql.unsafe(`INSERT INTO usage_day (tenant_id, kind, day, value, ${names})
    SELECT tenant_id, kind, (at AT TIME ZONE 'UTC')::date, coalesce(value, ''), ${figures.map((figure) => `sum(${figure})`).join(", ")}
    FROM seeded CROSS JOIN LATERAL (VALUES ('', ''), ('customer_reference', customer_reference), ('number', number),
      ('destination', destination)) AS of(kind, value) GROUP BY 1, 2, 3, 4`)
  yield* sql`DROP TABLE seeded`
}).pipe((seeding) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(seeding)))

const measure = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const usages = yield* Usages
  const { from, tenants, until } = yield* Effect.gen(function* () {
    const seeded = yield* Seed.calls({ calls: 1_000_000, tenants: 100, days: 90 })
    yield* counted
    yield* sql`ANALYZE usage_detail`
    yield* sql`ANALYZE usage_day`
    return seeded
  }).pipe(Effect.provideService(StatementLimit, Infinity))
  const wait = sql`
    INSERT INTO usage_tail (tenant_id, entries)
    SELECT t.id, jsonb_build_array(
      jsonb_build_object('id', 'bench ' || n, 'at', ${until}::float8, 'customer_reference', 'campaign ' || n % 70, 'number', '+12025550150',
        'destination', 'US', 'outbound_calls', 1, 'answered_calls', 1, 'call_seconds', 61, 'billed_minutes', 2),
      jsonb_build_object('id', 'bench charge ' || n, 'at', ${until}::float8, 'customer_reference', 'campaign ' || n % 70,
        'number', '+12025550150', 'destination', 'US', 'cost_cents', 2))
    FROM generate_series(1, ${waiting}::int) n
      JOIN (SELECT id, row_number() OVER (ORDER BY id) AS place FROM tenant) t ON t.place = 1 + n % (SELECT count(*) FROM tenant)`
  yield* wait
  const timesOf = (groupBy: Grouping) =>
    Effect.forEach(Array.from({ length: reports }), (_, index) =>
      Effect.gen(function* () {
        const tenant = tenants[index % tenants.length]
        if (tenant === undefined) return yield* Effect.die("no tenant")
        // Both ends are in the middle of a day.
        const asked = { startMs: from + 7_200_000 + index, endMs: until - 7_200_000 + index, groupBy }
        const began = performance.now()
        yield* usages.report(tenant.id, asked)
        return performance.now() - began
      })
    )
  const figuresOf = Effect.fnUntraced(function* (groupBy: Grouping) {
    yield* timesOf(groupBy)
    const times = (yield* timesOf(groupBy)).toSorted((one, other) => one - other)
    const p99 = Rounds.percentile(times, 0.99)
    return [
      Report.against(`usage of 90 days, group_by ${groupBy}, p99 ms`, Report.number(p99), "< 50", p99 < 50),
      Report.figure("  median ms", Report.number(Rounds.percentile(times, 0.5)))
    ]
  })
  const found = yield* Effect.forEach(groupings, figuresOf)
  const began = performance.now()
  yield* usages.sum
  const sumMs = performance.now() - began
  return [
    ...found.flat(),
    Report.figure(`adding ${Report.number(waiting)} ended calls to the sums, ms`, Report.number(sumMs))
  ]
})
