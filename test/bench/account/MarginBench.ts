import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { monitorEventLoopDelay } from "node:perf_hooks"
import * as Margin from "../../../src/money/cost/Margin.ts"
import * as TimeSlices from "../../../src/domain/time/TimeSlices.ts"
import * as PrefixSteps from "../../../src/money/cost/PrefixSteps.ts"
import type { Tariff } from "../../../src/money/cost/Tariff.ts"
import { type Commit, Journal } from "../../../src/runtime/store/journal/Journal.ts"
import { StatementLimit } from "../../../src/runtime/store/StatementLimit.ts"
import * as Database from "../load/Database.ts"
import * as Report from "../Report.ts"
import * as Rounds from "../Rounds.ts"
import * as SampleCommit from "../SampleCommit.ts"
import * as Service from "../load/Service.ts"
import * as Seed from "./Seed.ts"

const calls = Number(process.env["BENCH_CALLS"] ?? 1_000_000)
const rounds = 9
const callsOfRound = 1_024
const committers = 64

/** The cost of a row of usage when a call ends, and the operator's margin over a million calls of a hundred tenants. */
export const run = Effect.gen(function* () {
  const url = yield* Database.fresh
  const context = yield* Layer.build(Service.layer(url, Service.nowhere))
  return yield* Effect.provide(
    Effect.map(Effect.all([usageRow, margin]), (found) => found.flat()),
    context
  )
})

/** Compares whole calls that cost nothing, with their rows of usage and without. */
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

/** The number of prefixes in the deck, as in a carrier's A-Z list. */
const prefixes = 50_000

const margin = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { from, tenants, until } = yield* Effect.gen(function* () {
    const seeded = yield* Seed.calls({ calls, tenants: 100, days: 90 })
    yield* sql`
      INSERT INTO trunk_leg (call_id, ordinal, tenant_id, route_id, destination, ended_at, direction, digits, started_at, minutes,
        debited_cents)
      SELECT id, 1, tenant_id, route_id, 'US', ended_at, direction, substr(to_number, 2), answered_at, ceil(duration_seconds / 60.0),
        cost_cents
      FROM call WHERE answered_at IS NOT NULL`
    yield* sql`ANALYZE trunk_leg`
    return seeded
  }).pipe(Effect.provideService(StatementLimit, Infinity))
  const routes = yield* sql<{ readonly id: string }>`SELECT DISTINCT route_id AS id FROM trunk_leg`
  const rates = Array.from({ length: prefixes }, (_, index) => ({
    prefix: `1${202_550 + index}`,
    microUsdPerMinute: 7_000
  }))
  const tariff: Tariff = {
    decks: (["outbound", "inbound"] as const).map((direction) => ({
      deck: 1,
      direction,
      ...TimeSlices.atOnce(
        PrefixSteps.of(
          rates.map((rate) => ({ ...rate, direction })),
          direction
        )
      )
    })),
    spans: routes.map(({ id }) => ({ route: id, deck: 1, since: 0, until: null }))
  }
  const results = yield* Effect.forEach(Margin.groupings, (by) =>
    Effect.gen(function* () {
      const delay = monitorEventLoopDelay({ resolution: 5 })
      delay.enable()
      const began = performance.now()
      const groups = yield* Margin.read({ from, to: until + 1_000_000, by, tariff })
      const tookSecs = (performance.now() - began) / 1_000
      delay.disable()
      const sums = [...groups.values()].reduce((sum, { knownCalls }) => sum + knownCalls, 0)
      return [
        Report.figure(`margin of ${Report.number(calls)} calls by ${by}, s`, Report.number(tookSecs)),
        Report.figure("  groups, calls with a known cost", `${groups.size}, ${Report.number(sums)}`),
        Report.figure("  the event loop stood still at most, ms", Report.number(delay.max / 1e6))
      ]
    })
  )
  return [Report.figure("tenants", String(tenants.length)), ...results.flat()]
})
