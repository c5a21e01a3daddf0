import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import * as Service from "../../../support/service/SimulatedService.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"
import * as TestServer from "../TestServer.ts"

class Running extends Context.Service<Running, Effect.Success<ReturnType<typeof Service.start>>>()("test/Running") {}

const running = Layer.effect(Running, Effect.orDie(Service.start("calls.csv"))).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

layer(running, { timeout: "60 seconds", excludeTestServices: true })("GET /v1/calls.csv", (it) => {
  it.effect("gives every call that the filters leave, the newest first, and no formula", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const a = yield* Service.tenant(yield* Running)
      const { ask } = yield* Running
      const file = (query = "") =>
        Effect.map(ask(a.key, "GET", `/v1/calls.csv${query}`), (answer) => ({
          ...answer,
          records: answer.text.split("\r\n").slice(0, -1)
        }))
      const id = yield* a.place("+12025550101", { customer_reference: '=HYPERLINK("https://example.com")' })
      yield* a.until(id, ({ status }) => status === "failed" || status === "ended")
      // There is more than one portion, and some calls share a moment.
      yield* sql`
        INSERT INTO call (id, tenant_id, direction, status, from_number, to_number, route_id, initiated_at, duration_seconds,
          customer_reference, cost_cents, rating_status)
        SELECT 'svc_call_' || lpad(to_hex(n), 32, '0'), ${a.id}, 'inbound', 'ended', '+12025550150', '+12025550100', 'svc_route_x',
          timestamptz '2020-01-01T00:00:00Z' + (n / 3) * interval '1 second', 0, n::text, 0, 'rated'
        FROM generate_series(1, 4500) n`
      const { headers, records } = yield* file()
      expect(headers["content-type"]).toBe("text/csv; charset=utf-8")
      expect(headers["content-disposition"]).toBe('attachment; filename="calls.csv"')
      expect(records[0]).toBe(
        "id,direction,status,from,to,route_id,initiated_at,answered_at,ended_at,duration_seconds,end_reason,end_initiator," +
          "customer_reference,cost_cents,rating_status,destination,rate_micro_usd_per_minute,increments,billed_seconds"
      )
      expect(records[1]).toMatch(new RegExp(`^${id},outbound,failed,`))
      expect(records[1]).toContain(`,"'=HYPERLINK(""https://example.com"")",0,rated,US,10000,60/60,0`)
      expect(records.length).toBe(1 + 1 + 4_500)
      expect(new Set(records).size).toBe(records.length)
      const times = records.slice(1).map((record) => record.split(",")[6] ?? "")
      expect(times).toEqual(times.toSorted().toReversed())
      expect((yield* file("?direction=outbound")).records.length).toBe(2)
      expect((yield* file("?status=ended&to_number=%2B12025550100")).records.length).toBe(4_501)
      expect((yield* file("?customer_reference=4321")).records.length).toBe(1 + 1)
      expect((yield* file("?customer_reference=4321&to_number=%2B12025550101")).records.length).toBe(1)
      expect((yield* file("?initiated_after=2020-01-01T00:24:59.000Z")).records.length).toBe(1 + 1 + 1)
      const answer = yield* ask(a.key, "GET", "/v1/calls.csv?page=1")
      expect([answer.status, TestServer.codeOf(answer)]).toEqual([400, "invalid_request"])
    })
  )
})
