import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../../src/money/account/Account.ts"
import * as Service from "../../../support/service/SimulatedService.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"
import * as TestServer from "../TestServer.ts"
import * as Room from "./RoomOfService.ts"

class Running extends Context.Service<Running, Effect.Success<ReturnType<typeof Service.start>>>()("test/Many") {}

const running = Layer.effect(Running, Effect.orDie(Service.start("many"))).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

interface Page {
  readonly count: number
  readonly next: string | null
  readonly results: ReadonlyArray<{ readonly id: string; readonly name: string }>
}

const followed = Effect.fnUntraced(function* (get: (path: string) => Effect.Effect<TestServer.Answer>, first: string) {
  const pages: Array<Page> = []
  for (let path: string | null = first; path !== null && pages.length < 20;) {
    const { json, status, text } = yield* get(path)
    expect(status, text).toBe(200)
    const page = json as Page
    pages.push(page)
    const next: URL | null = page.next === null ? null : new URL(page.next)
    path = next === null ? null : next.pathname + next.search
  }
  return pages
})

layer(running, { timeout: "120 seconds", excludeTestServices: true })("Many", (it) => {
  it.effect(
    "two hundred and fifty participants are in one room, listed, asked of the carrier, and gone with its end",
    () =>
      Effect.gen(function* () {
        const service = yield* Running
        const tenant = yield* Service.tenant(service)
        yield* tenant.paid
        const accounts = Context.get(service.context, Accounts)
        const quota = { concurrentCallLimit: 1000, dailySpendCapCents: null, monthlySpendCapCents: null }
        yield* accounts.setQuota(tenant.id, quota, { type: "operator", name: "Eve" })
        const room = yield* Room.hosted(service, tenant, 249, { max_participants: 250 })
        const { participants } = yield* room.find
        expect(new Set(participants.map(({ id }) => id)).size).toBe(250)
        const more = yield* room.post("/participants/", { from: tenant.number, to: "+12025550116" })
        expect([more.status, TestServer.codeOf(more)]).toEqual([409, "conference_full"])
        const get = (path: string) => service.ask(tenant.key, "GET", path)
        const pages = yield* followed(get, `${room.path}/participants/list/?page_size=200`)
        expect(pages.map(({ count, results }) => [count, results.length])).toEqual([
          [250, 200],
          [250, 50]
        ])
        const upstream = yield* room.get("/participants/upstream/?page=3&page_size=100")
        expect(upstream.json).toMatchObject({ meta: { total_pages: 3, total_results: 250, page_number: 3 } })
        yield* room.end
        const types = yield* room.events
        expect(types.filter((type) => type === "conference.member_left").length).toBe(250)
        for (const { call_id } of participants.slice(0, 5))
          yield* tenant.until(call_id, ({ end_reason }) => end_reason === "conference_ended")
      }),
    120_000
  )

  it.effect("rooms of years are listed by page and found by name", () =>
    Effect.gen(function* () {
      const service = yield* Running
      const tenant = yield* Service.tenant(service)
      const sql = yield* SqlClient.SqlClient
      const room = yield* Room.hosted(service, tenant, 0, { name: "The one of now" })
      yield* sql`
        INSERT INTO conference
        SELECT (jsonb_populate_record(kept, jsonb_build_object(
          'id', 'svc_conf_' || md5(nth::text), 'name', 'Weekly ' || nth,
          'folded_name', 'weekly ' || nth, 'status', 'completed',
          'created_at', kept.created_at - nth * interval '1 hour', 'ended_at', kept.created_at))).*
        FROM conference AS kept, generate_series(1, 3000) AS nth WHERE kept.id = ${room.id}`
      const get = (path: string) => service.ask(tenant.key, "GET", path)
      const [first] = yield* followed(get, "/v1/conferences/?page_size=200")
      expect([first?.count, first?.results[0]?.name, first?.results[1]?.name]).toEqual([
        3001,
        "The one of now",
        "Weekly 1"
      ])
      const named = yield* followed(get, "/v1/conferences/?name=WEEKLY%20299&page_size=200")
      expect(named.flatMap(({ results }) => results.map(({ name }) => name))).toEqual([
        "Weekly 299",
        ...Array.from({ length: 10 }, (_, nth) => `Weekly 299${nth}`)
      ])
      const found = yield* followed(get, "/v1/conferences/?status=in_progress")
      expect(found.flatMap(({ results }) => results.map(({ id }) => id))).toEqual([room.id])
      yield* room.end
    })
  )
})
