import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Carrier } from "../../../../src/carrier/Carrier.ts"
import type { TenantId } from "../../../../src/domain/Id.ts"
import * as World from "../OperatorWorld.ts"

layer(World.over(Carrier.layer), { timeout: "60 seconds", excludeTestServices: true })("cdr export", (it) => {
  it.effect("writes each call that ended in the time once, of all tenants or of one, with its rate", () =>
    Effect.gen(function* () {
      const { dataDir } = yield* World.Recorded
      const sql = yield* SqlClient.SqlClient
      const [{ tenantId: a }, { tenantId: b }] = [yield* World.signup("cdr-a"), yield* World.signup("cdr-b")]
      /** Calls that began in the first of these hours each, and lasted one. */
      const calls = (tenantId: TenantId, from: number, to: number) => sql`
        INSERT INTO call (id, tenant_id, direction, status, from_number, to_number, route_id, initiated_at,
          answered_at, ended_at, duration_seconds, end_reason, customer_reference, cost_cents, rating_status,
          destination, micro_usd_per_minute, increments, billed_seconds)
        SELECT 'svc_call_' || lpad(to_hex(n), 32, '0'), ${tenantId}, 'outbound', 'ended', '+12025550150',
          '+4930123456', 'svc_route_x', timestamptz '2026-01-01T00:00:00Z' + n * interval '1 second',
          timestamptz '2026-01-01T00:00:00Z' + n * interval '1 second',
          timestamptz '2026-01-01T01:00:00Z' + n * interval '1 second', 3600, 'normal_clearing', '=' || n, 60, 'rated',
          'DE', 10000, '30/6 fee 500', 3600
        FROM generate_series(${from}::int, ${to}::int) n`
      // One tenant has more than one portion.
      yield* calls(a, 1, 2_500)
      yield* calls(b, 3_001, 3_003)
      yield* sql`
        INSERT INTO call (id, tenant_id, direction, status, from_number, to_number, route_id, initiated_at,
          duration_seconds, rating_status)
        VALUES ('svc_call_live', ${b}, 'outbound', 'answered', '+12025550150', '+12025550100', 'svc_route_x',
          '2026-01-01T00:50:00Z', 0, 'pending')`
      let files = 0
      const exported = Effect.fn(function* (...args: ReadonlyArray<string>) {
        const file = join(dataDir, `cdr-${++files}.csv`)
        const { code, stderr } = yield* World.operator("cdr", "export", file, ...args)
        expect([code, stderr]).toEqual([0, ""])
        const text = yield* Effect.promise(() => readFile(file, "utf8"))
        const [header = "", ...records] = text.split("\r\n").slice(0, -1)
        return { header, records }
      })
      const period = ["--from", "2026-01-01T01:00:02Z", "--to", "2026-01-02T00:00:00Z"] as const
      const { header, records } = yield* exported(...period)
      expect(header).toBe(
        "tenant_id,tenant,id,direction,status,from,to,route_id,initiated_at,answered_at,ended_at,duration_seconds," +
          "end_reason,end_initiator,customer_reference,cost_cents,rating_status,destination,rate_micro_usd_per_minute," +
          "increments,billed_seconds"
      )
      // The first call ended before the time, and the live one has not ended.
      expect(records.length).toBe(2_499 + 3)
      expect(new Set(records).size).toBe(records.length)
      expect(records[0]).toMatch(new RegExp(`^${a},cdr-a,svc_call_0+9c4,outbound,ended,`))
      expect(records[0]).toMatch(/,'=2500,60,rated,DE,10000,30\/6 fee 500,3600$/)
      expect(records.filter((record) => record.startsWith(`${b},cdr-b,`)).length).toBe(3)

      expect((yield* exported(...period, "--tenant", "cdr-b")).records.length).toBe(3)
      expect((yield* exported("--from", "2026-02-01T00:00:00Z", "--to", "2026-02-02T00:00:00Z")).records).toEqual([])
      for (const wrong of [
        ["--from", "2026-01-02T00:00:00Z", "--to", "2026-01-01T00:00:00Z"],
        ["--from", "2026-01-01T00:00:00Z", "--to", "2026-06-01T00:00:00Z"],
        [...period, "--tenant", "nobody"]
      ])
        expect((yield* World.operator("cdr", "export", join(dataDir, "wrong.csv"), ...wrong)).code).not.toBe(0)
      const lines = yield* sql<{ readonly tenantId: TenantId | null }>`
        SELECT tenant_id FROM audit WHERE action = 'calls.exported' ORDER BY ordinal`
      expect(lines.map(({ tenantId }) => tenantId)).toEqual([null, b, null])
    })
  )
})
