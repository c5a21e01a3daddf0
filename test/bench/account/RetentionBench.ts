import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { setTimeout as delay } from "node:timers/promises"
import * as HttpServer from "../../../src/edge/http/Server.ts"
import { Retention } from "../../../src/runtime/retention/Retention.ts"
import { StatementLimit } from "../../../src/runtime/store/StatementLimit.ts"
import * as Database from "../load/Database.ts"
import { RecordingCarrier } from "../load/RecordingCarrier.ts"
import * as Report from "../Report.ts"
import * as Rounds from "../Rounds.ts"
import * as Service from "../load/Service.ts"

/** The number of rows that are too old: each is an event with its finished delivery. */
const events = Number(process.env["BENCH_OLD_EVENTS"] ?? 500_000)
const portion = 50_000

/** The rate at which calls are placed, however long the answers take. */
const perSecond = 40
const baselineMs = 20_000
/** How long pruning, which pauses between its batches, is measured at most. */
const pruningMs = 60_000
/** The allowed ratio of placing while rows are pruned to placing without. */
const goal = 1.5

/** Prunes a million rows while calls are placed over HTTP. */
export const run = Effect.gen(function* () {
  const url = yield* Database.fresh
  const service = Service.http.pipe(
    Layer.provideMerge(Retention.layer({ days: { event: 30, call: 396 } })),
    Layer.provideMerge(Service.layer(url, Service.nowhere))
  )
  return yield* measure.pipe(Effect.provide(yield* Layer.build(service)))
})

const seed = Effect.fnUntraced(function* (tenantId: string) {
  const sql = yield* SqlClient.SqlClient
  for (let start = 0; start < events; start += portion)
    yield* sql`
      WITH old AS MATERIALIZED (
        SELECT n, now() - interval '60 days' + n * interval '10 milliseconds' AS at,
          (lpad(to_hex((extract(epoch FROM now() - interval '60 days') * 1000)::bigint + n * 10), 12, '0') || '7'
            || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid AS id
        FROM generate_series(${start}::int, ${start + portion - 1}::int) n
      ), told AS (
        INSERT INTO event (id, tenant_id, entity_id, sequence, type, occurred_at, body, partition)
        SELECT id, ${tenantId}::uuid, 'svc_call_' || lpad(to_hex(n / 4), 32, '0'), n % 4 + 1, 'call.ended', at,
          repeat('{"data": {"id": "svc_call"}}', 20), 0 FROM old
      )
      INSERT INTO webhook_delivery (id, tenant_id, event_id, event_type, subscription_id, destination, lane, sequence, attempt_no,
        status, due_at, created_at, partition)
      SELECT (left(replace(id::text, '-', ''), 16) || '9' || right(replace(id::text, '-', ''), 15))::uuid, ${tenantId}::uuid, id,
        'call.ended', 'svc_sub_1', 'svc_sub_1', 'svc_call_' || lpad(to_hex(n / 4), 32, '0'), n % 4 + 1, 1, 'success', NULL, at, 0 FROM old`
  for (const table of ["event", "webhook_delivery"]) yield* sql.unsafe(`ANALYZE ${table}`)
})

const measure = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { port } = yield* HttpServer.Listening
  const carrier = yield* RecordingCarrier
  const retention = yield* Retention
  const tenant = yield* Service.openTenant(0)
  yield* Effect.provideService(seed(tenant.id), StatementLimit, Infinity)
  const body = JSON.stringify({ from: tenant.number, to: "+12025550100" })
  const headers = { "content-type": "application/json", authorization: `Bearer ${tenant.credential}` }

  const placing = (forMs: number, isOver: () => boolean = () => false) =>
    Effect.promise(async () => {
      const times: Array<number> = []
      const under: Array<Promise<void>> = []
      const began = performance.now()
      for (let nth = 0; performance.now() - began < forMs && !isOver(); nth++) {
        const at = performance.now()
        const place = async () => {
          const answer = await fetch(`http://127.0.0.1:${port}/v1/calls`, { method: "POST", headers, body })
          await answer.arrayBuffer()
          if (answer.status !== 201) throw new Error(`a call was not placed: ${answer.status}`)
          times.push(performance.now() - at)
        }
        under.push(place())
        await delay(Math.max(0, began + ((nth + 1) * 1_000) / perSecond - performance.now()))
      }
      await Promise.all(under)
      return times.toSorted((one, other) => one - other)
    }).pipe(Effect.tap(() => Effect.forEach(carrier.take(), carrier.hungUp, { concurrency: 256, discard: true })))
  const left = Effect.map(
    sql<{ readonly rows: number }>`
      SELECT ((SELECT count(*) FROM event WHERE occurred_at < now() - interval '30 days') + (SELECT count(*) FROM webhook_delivery
        WHERE created_at < now() - interval '30 days'))::float8 AS rows`,
    ([row]) => row?.rows ?? 0
  )

  yield* placing(5_000)
  const without = yield* placing(baselineMs)
  const before = yield* left
  let isPruned = false
  const began = performance.now()
  const pruning = yield* Effect.forkChild(
    Effect.ensuring(
      retention.prune,
      Effect.sync(() => {
        isPruned = true
      })
    )
  )
  const beside = yield* placing(pruningMs, () => isPruned)
  const tookSecs = (performance.now() - began) / 1_000
  const after = yield* left
  yield* Fiber.interrupt(pruning)

  const p99 = (times: ReadonlyArray<number>) => Rounds.percentile(times, 0.99)
  const ratio = p99(beside) / p99(without)
  const both = (times: ReadonlyArray<number>) =>
    `${Rounds.percentile(times, 0.5).toFixed(1)} / ${p99(times).toFixed(1)}`
  return [
    Report.against("placing beside pruning / without, p99", ratio.toFixed(2), `≤ ${goal}`, ratio <= goal),
    Report.figure(`  without, ms p50 / p99 (${perSecond} calls/s)`, both(without)),
    Report.figure("  beside, ms p50 / p99", both(beside)),
    Report.figure(`rows too old at first`, Report.number(before)),
    Report.figure(`rows pruned a second`, Report.number((before - after) / tookSecs))
  ]
})
