import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, References } from "effect"
import { Jobs } from "../../../../src/runtime/job/Jobs.ts"
import { Usages } from "../../../../src/money/usage/Usage.ts"
import type { UsageReport } from "../../../../src/money/usage/UsageView.ts"
import * as Service from "../../../support/service/SimulatedService.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"
import * as TestServer from "../TestServer.ts"

class Running extends Context.Service<Running, Effect.Success<ReturnType<typeof Service.start>>>()("test/Running") {}

const running = Layer.effect(Running, Effect.orDie(Service.start("usage"))).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

layer(running, { timeout: "60 seconds", excludeTestServices: true })("GET /v1/usage", (it) => {
  const open = Effect.gen(function* () {
    const { ask, context } = yield* Running
    const tenant = yield* Service.tenant(yield* Running)
    const read = (query = "") => ask(tenant.key, "GET", `/v1/usage${query}`)
    const report = (query = "") => Effect.map(read(query), ({ json }) => json as UsageReport)
    return { ...tenant, ask, read, report, usages: Context.get(context, Usages), jobs: Context.get(context, Jobs) }
  })

  it.effect("counts calls with what they cost, as soon as they have ended, by each grouping", () =>
    Effect.gen(function* () {
      const a = yield* open
      const nothing = yield* a.report()
      const orders = nothing.totals.total_cost_cents
      expect(nothing.totals).toMatchObject({ outbound_calls: 0, call_seconds: 0, numbers_active: expect.any(Number) })
      const answered = yield* a.answered("+12025550100")
      yield* a.act(answered, "hangup")
      const busy = yield* a.place("+12025550101", { customer_reference: "order 7" })
      for (const id of [answered, busy]) yield* a.until(id, ({ status }) => status === "ended" || status === "failed")
      const once = yield* a.report()
      expect(once.totals).toMatchObject({
        outbound_calls: 2,
        inbound_calls: 0,
        answered_calls: 1,
        call_seconds: 1,
        billed_minutes: 1,
        recording_minutes: 0,
        transcription_minutes: 0,
        conference_participant_minutes: 0,
        amd_checks: 0,
        lookups: 0,
        total_cost_cents: orders + 1
      })
      // The report does not depend on how far the sums are.
      yield* a.usages.sum
      expect(yield* a.report()).toEqual(once)
      const month = new Date().toISOString().slice(0, 7)
      expect(once).toMatchObject({ period_start: `${month}-01T00:00:00.000Z`, currency: "USD", results: [] })

      const days = yield* a.report("?group_by=day")
      expect(days.results.reduce((sum, { outbound_calls }) => sum + outbound_calls, 0)).toBe(2)
      expect(days.totals).toEqual(once.totals)
      expect(days.results.map(({ date }) => date)[0]).toBe(`${month}-01`)
      expect((yield* a.report("?group_by=month")).results).toEqual([{ date: `${month}-01`, ...once.totals }])
      const references = yield* a.report("?group_by=customer_reference")
      expect(
        references.results.map((each) => [each.customer_reference, each.outbound_calls, each.total_cost_cents])
      ).toEqual([
        ["order 7", 1, 0],
        [null, 1, orders + 1]
      ])
      const numbers = yield* a.report("?group_by=number")
      expect(numbers.results[0]).toMatchObject({ number: a.number, outbound_calls: 2, total_cost_cents: 1 })
      const destinations = yield* a.report("?group_by=destination")
      expect(destinations.results[0]).toMatchObject({ destination: "US", outbound_calls: 2, total_cost_cents: 1 })
      // A call counts in the millisecond of its end.
      const { ended_at } = (yield* a.ask(a.key, "GET", `/v1/calls/${answered}`)).json as { readonly ended_at: string }
      const around = (from: number, to: number) => {
        const moment = (ms: number) => new Date(Date.parse(ended_at) + ms).toISOString()
        return Effect.map(a.report(`?start=${moment(from)}&end=${moment(to)}`), ({ totals }) => totals.answered_calls)
      }
      expect([yield* around(-60_000, 0), yield* around(0, 1), yield* around(1, 60_000)]).toEqual([0, 1, 0])
      expect((yield* (yield* open).report()).totals.outbound_calls).toBe(0)
    })
  )

  it.effect("answers for every year that a timestamp can name", () =>
    Effect.gen(function* () {
      const a = yield* open
      for (const [start, end, days] of [
        ["0000-01-01T00:00:00Z", "0000-02-01T00:00:00Z", 31],
        ["0000-12-31T12:00:00Z", "0001-01-02T12:00:00Z", 3],
        ["9999-12-01T00:00:00Z", "9999-12-31T23:59:59.999Z", 31]
      ] as const) {
        const answer = yield* a.read(`?start=${start}&end=${end}&group_by=day`)
        expect([start, answer.status]).toEqual([start, 200])
        const { results, totals } = answer.json as UsageReport
        expect([results.length, totals.total_cost_cents]).toEqual([days, 0])
      }
    })
  )

  it.effect("refuses what is no period, and asks for usage:read", () =>
    Effect.gen(function* () {
      const a = yield* open
      for (const query of [
        "?start=2026-01-02T00:00:00Z&end=2026-01-02T00:00:00Z",
        "?start=2026-01-02T00:00:00Z&end=2026-01-01T00:00:00Z",
        "?start=2026-01-01T00:00:00Z&end=2026-04-03T00:00:00.001Z",
        "?start=yesterday",
        "?end=2026-13-01T00:00:00Z",
        "?group_by=year",
        "?from=2026-01-01T00:00:00Z"
      ]) {
        const answer = yield* a.read(query)
        expect([query, answer.status, TestServer.codeOf(answer)]).toEqual([query, 400, "invalid_request"])
      }
      expect((yield* a.read("?start=2026-01-01T00:00:00Z&end=2026-04-03T00:00:00Z")).status).toBe(200)
      const { json } = yield* a.ask(a.key, "POST", "/v1/api-keys", { name: "other", scopes: ["calls:read"] })
      const { api_key_plaintext } = json as { readonly api_key_plaintext: string }
      expect(TestServer.codeOf(yield* a.ask(api_key_plaintext, "GET", "/v1/usage"))).toBe("forbidden")
    })
  )
})
