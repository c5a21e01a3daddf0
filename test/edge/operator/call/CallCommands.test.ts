import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Carrier } from "../../../../src/carrier/Carrier.ts"
import * as World from "../OperatorWorld.ts"

interface Listed {
  readonly results: ReadonlyArray<{ readonly customer_reference: string }>
  readonly next: string | null
}

const asked = Effect.fn(function* (...args: ReadonlyArray<string>) {
  return yield* World.operator("call", "list", ...args)
})
const listed = Effect.fn(function* (...args: ReadonlyArray<string>) {
  const { next, results } = World.jsonOf(yield* asked(...args, "--json")) as unknown as Listed
  return { next, references: results.map(({ customer_reference }) => customer_reference) }
})

layer(World.over(Carrier.layer), { timeout: "60 seconds", excludeTestServices: true })("call list", (it) => {
  it.effect("finds calls by time, reason and reference, page by page, and shows who ended them", () =>
    Effect.gen(function* () {
      const { tenantId } = yield* World.signup("caller")
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        INSERT INTO call (id, tenant_id, direction, status, from_number, to_number, route_id, initiated_at,
          duration_seconds, end_reason, end_initiator, customer_reference, cost_cents, rating_status)
        SELECT 'svc_call_' || lpad(to_hex(n), 32, '0'), ${tenantId}, 'outbound', 'ended', '+12025550150',
          '+12025550100', 'svc_route_x', timestamptz '2026-01-01T00:00:00Z' + n * interval '1 hour', 0,
          CASE n % 2 WHEN 0 THEN 'media_timeout' ELSE 'normal_clearing' END,
          CASE n % 2 WHEN 0 THEN 'system' ELSE 'callee' END, n::text, 0, 'rated'
        FROM generate_series(1, 9) n`
      const of = ["--tenant", "caller"] as const
      const from = ["--initiated-after", "2026-01-01T03:00:00Z"] as const
      const to = ["--initiated-before", "2026-01-01T07:00:00Z"] as const
      expect((yield* listed(...of, ...from, ...to)).references).toEqual(["6", "5", "4"])
      expect((yield* listed(...of, "--reason", "media_timeout")).references).toEqual(["8", "6", "4", "2"])
      expect((yield* listed(...of, ...from, "--reason", "media_timeout")).references).toEqual(["8", "6", "4"])
      expect((yield* listed(...of, "--reference", "7")).references).toEqual(["7"])
      const first = yield* listed(...of, "--limit", "4")
      const second = yield* listed(...of, "--limit", "4", "--after", first.next ?? "")
      const third = yield* listed(...of, "--limit", "4", "--after", second.next ?? "")
      expect([first, second, third].map(({ references }) => references.join(""))).toEqual(["9876", "5432", "1"])
      expect(third.next).toBeNull()
      const table = yield* asked(...of, "--limit", "1")
      expect(table.stdout).toMatch(/end_reason +end_initiator[^]*normal_clearing +callee[^]*more: --after /)
      for (const wrong of [
        ["--reason", "boredom"],
        ["--status", "over"],
        ["--initiated-after", "today"],
        ["--after", "x"]
      ])
        expect([wrong, (yield* asked(...of, ...wrong)).code]).not.toEqual([wrong, 0])
    })
  )
})
