import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Margin from "../../../src/operator/cost/Margin.ts"
import { type Commit, Journal } from "../../../src/store/Journal.ts"
import { StatementLimit } from "../../../src/store/StatementLimit.ts"
import { figures } from "../../../src/store/UsageRow.ts"
import * as Database from "../Database.ts"
import * as Report from "../Report.ts"
import * as Rounds from "../Rounds.ts"
import * as SampleCommit from "../SampleCommit.ts"
import * as Service from "../Service.ts"
import * as Seed from "./Seed.ts"

const calls = Number(process.env["BENCH_CALLS"] ?? 1_000_000)
const portion = 50_000
const rounds = 9
const callsOfRound = 1_024
const committers = 64

/** What a row of usage costs when a call ends, and the operator's margin over a million calls of a hundred tenants. */
export const run = Effect.gen(function* () {
  const url = yield* Database.fresh
  const context = yield* Layer.build(Service.layer(url, Service.nowhere))
  return yield* Effect.provide(
    Effect.map(Effect.all([usageRow, margin]), (found) => found.flat()),
    context
  )
})

/** Whole calls that cost nothing, with their rows of usage and without. */
const usageRow = Effect.gen(function* () {
  const journal = yield* Journal
  const tenant = yield* Service.openTenant(1_000)
  let made = 0
  const written = (change: (commit: Commit) => Commit) =>
    Effect.suspend(() => {
      const lives = Array.from({ length: callsOfRound }, () => SampleCommit.life(tenant, `usage ${made++}`))
      const work = Effect.forEach(
        lives,
        (life) => Effect.forEach(life, (commit) => journal.commit(change(commit)), { discard: true }),
        { concurrency: committers, discard: true }
      )
      return Rounds.timed(Effect.as(work, lives.length))
    })
  const results = yield* Rounds.interleaved(rounds, {
    counted: written((commit) => ({ ...commit, money: [] })),
    uncounted: written((commit) => ({ ...commit, money: [], usage: null }))
  })
  const [counted, uncounted] = [Rounds.medianRate(results.counted), Rounds.medianRate(results.uncounted)]
  return [
    Report.figure("a whole call, CPU µs, ours / Postgres", Report.cpu(counted)),
    Report.figure("  without its row of usage", Report.cpu(uncounted)),
    Report.figure("the row's share of CPU", (1 - Rounds.micros(uncounted) / Rounds.micros(counted)).toFixed(3))
  ]
})

const margin = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { from, tenants, until } = yield* Effect.gen(function* () {
    const seeded = yield* Seed.calls({ calls, tenants: 100, days: 90 })
    const [tenant] = seeded.tenants
    const last = tenant === undefined ? undefined : SampleCommit.life(tenant, "margin").at(-1)?.entities[0]
    if (last === undefined) return yield* Effect.die("no call")
    for (let begin = 0; begin < calls; begin += portion)
      yield* sql`
        INSERT INTO entity (id, kind, tenant_id, seq, settled, state_version, state, updated_at, partition)
        SELECT id, 'call', tenant_id, 4, true, ${last.stateVersion}, ${JSON.stringify(last.state)}::text::jsonb, ended_at, 0
        FROM call WHERE id >= 'svc_call_' || lpad(to_hex(${begin}::int), 32, '0')
          AND id < 'svc_call_' || lpad(to_hex(${begin + portion}::int), 32, '0')`
    yield* sql`
      INSERT INTO usage_detail (id, tenant_id, at, number, destination, ${sql.literal(figures.join(", "))})
      SELECT id, tenant_id, ended_at, from_number, 'US', ${sql.literal(figures.map(() => "0").join(", "))} FROM call`
    for (const table of ["entity", "usage_detail"]) yield* sql.unsafe(`ANALYZE ${table}`)
    return seeded
  }).pipe(Effect.provideService(StatementLimit, Infinity))
  const began = performance.now()
  const groups = yield* Margin.read({ from, to: until + 1, by: "tenant", costOf: () => 7_000 })
  const tookSecs = (performance.now() - began) / 1_000
  const sums = [...groups.values()].reduce((sum, { calls: of }) => sum + of, 0)
  return [
    Report.figure(`margin of ${Report.number(calls)} calls by tenant, s`, Report.number(tookSecs)),
    Report.figure("  groups, calls in them", `${groups.size}, ${Report.number(sums)} of ${tenants.length} tenants`)
  ]
})
