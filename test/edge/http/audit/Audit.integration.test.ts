import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../../src/money/account/Account.ts"
import type { AuditLineView } from "../../../../src/runtime/audit/AuditView.ts"
import * as Features from "../../../support/service/Features.ts"
import * as Service from "../../../support/service/SimulatedService.ts"
import * as TestDatabase from "../../../support/TestDatabase.ts"
import * as TestServer from "../TestServer.ts"

class Running extends Context.Service<Running, Effect.Success<ReturnType<typeof Service.start>>>()("test/Running") {}

const running = Layer.effect(Running, Effect.orDie(Service.start("audit"))).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None"))
)

interface Envelope {
  readonly count: number
  readonly next: string | null
  readonly previous: string | null
  readonly results: ReadonlyArray<AuditLineView>
}

layer(running, { timeout: "60 seconds", excludeTestServices: true })("GET /v1/audit", (it) => {
  const open = Effect.gen(function* () {
    const { ask, context } = yield* Running
    const tenant = yield* Effect.provide(Features.newTenant(), context)
    const read = (query: string) => ask(tenant.plaintext, "GET", `/v1/audit${query}`)
    const lines = (query: string) => Effect.map(read(query), ({ json }) => json as Envelope)
    return { ...tenant, read, lines, context }
  })

  it.effect("shows each change with its actor and its fields, the newest first, and nothing of another tenant", () =>
    Effect.gen(function* () {
      const { ask } = yield* Running
      const a = yield* open
      const b = yield* open
      const accounts = Context.get(a.context, Accounts)
      yield* accounts.setQuota(a.id, { concurrentCallLimit: 7 }, { type: "operator", name: "Eve" })
      const made = yield* ask(a.plaintext, "POST", "/v1/api-keys", { name: "reader", scopes: ["audit:read"] })
      const { api_key_plaintext: plaintext, id: keyId } = made.json as {
        readonly id: string
        readonly api_key_plaintext: string
      }
      const { count, next, previous, results } = yield* a.lines("")
      expect(results[0]).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        occurred_at: expect.stringMatching(/Z$/),
        actor: { type: "api_key", id: a.caller.keyId, name: a.caller.name },
        action: "api_key.created",
        resource_type: "api_key",
        resource_id: keyId,
        changes: expect.any(Array),
        ip: "127.0.0.1"
      })
      expect(results[1]).toMatchObject({
        actor: { type: "operator", id: null, name: "Eve" },
        action: "quota.updated",
        changes: [{ field: "concurrent_call_limit", from: 10, to: 7 }],
        ip: null
      })
      expect([count, next, previous]).toEqual([results.length, null, null])
      const foreign = (yield* b.lines("")).results
      expect(foreign.length).toBeGreaterThan(0)
      expect(foreign.some(({ id }) => results.some((line) => line.id === id))).toBe(false)
      expect((yield* a.lines(`?resource_id=${b.id}`)).results).toEqual([])
      expect(JSON.stringify(results)).not.toContain(plaintext)
    })
  )

  it.effect("a call has a line for each of its states, by the key that placed it and by the service", () =>
    Effect.gen(function* () {
      const a = yield* Service.tenant(yield* Running)
      const { ask } = yield* Running
      const id = yield* a.answered("+12025550100")
      yield* a.act(id, "hangup")
      yield* a.until(id, ({ status }) => status === "ended")
      const { json } = yield* ask(a.key, "GET", `/v1/audit?resource_id=${id}`)
      const { results } = json as Envelope
      expect(results.map(({ action, actor, changes }) => [action, actor.type, changes[0]?.to])).toEqual([
        ["call.status_changed", expect.any(String), "ended"],
        ["call.status_changed", "system", "answered"],
        ["call.status_changed", "system", "ringing"],
        ["call.created", "api_key", "initiated"]
      ])
    })
  )

  it.effect("a call says who was logged in, and who asked for what its carrier tells later", () =>
    Effect.gen(function* () {
      const service = yield* Running
      const { ask } = service
      const [a, b] = [yield* Service.tenant(service), yield* Service.tenant(service)]
      const sql = yield* SqlClient.SqlClient
      const [owner] = yield* sql<{ readonly id: string; readonly email: string; readonly name: string }>`
        SELECT id::text AS id, email, first_name || ' ' || last_name AS name FROM member WHERE tenant_id = ${b.id}`
      const login = yield* ask("", "POST", "/v1/auth/login", { email: owner?.email, password: "correct horse battery" })
      const { api_key_plaintext: key } = login.json as { readonly api_key_plaintext: string }
      const person = { type: "user", id: owner?.id, name: owner?.name }
      const system = { type: "system", id: null, name: null }

      const placed = yield* a.place(b.number)
      const list = Effect.map(
        ask(b.key, "GET", "/v1/calls"),
        ({ json }) => json as { readonly results: [Service.Call?] }
      )
      let id = (yield* list).results[0]?.id
      while (id === undefined) id = (yield* Effect.delay(list, "10 millis")).results[0]?.id
      expect((yield* ask(key, "POST", `/v1/calls/${id}/actions/answer`, {})).status).toBe(200)
      yield* b.until(id, ({ status }) => status === "answered")
      expect((yield* ask(key, "POST", `/v1/calls/${id}/actions/hangup`, {})).status).toBe(200)

      const lines = (yield* ask(b.key, "GET", `/v1/audit?resource_id=${id}`)).json as Envelope
      expect(lines.results.map(({ action, actor, changes, ip }) => [action, actor, ip, changes[0]?.to])).toEqual([
        ["call.status_changed", person, "127.0.0.1", "ended"],
        ["call.status_changed", system, null, "answered"],
        ["call.answer_requested", person, "127.0.0.1", undefined],
        ["call.created", system, null, "initiated"]
      ])
      const theirs = (yield* ask(a.key, "GET", `/v1/audit?resource_id=${placed}`)).json as Envelope
      const first = theirs.results.at(-1)
      expect([first?.action, first?.actor.type, first?.actor.name]).toEqual(["call.created", "api_key", "Default"])
    })
  )

  it.effect("each filter narrows, together they must all hold, and pages keep them", () =>
    Effect.gen(function* () {
      const a = yield* open
      const sql = yield* SqlClient.SqlClient
      for (let day = 1; day <= 6; day++)
        yield* sql`
          INSERT INTO audit (id, tenant_id, occurred_at, actor_type, actor_id, action, resource_type, resource_id, changes)
          VALUES (gen_random_uuid(), ${a.id}, ${new Date(Date.UTC(2020, 0, day))}, 'api_key', ${day % 2 === 0 ? "even" : "odd"},
            ${day === 3 ? "thing.removed" : "thing.made"}, ${day < 6 ? "thing" : "other"}, ${`t${day}`}, '[]')`
      const ids = (query: string) =>
        Effect.map(a.lines(query), ({ results }) => results.map((line) => line.resource_id))
      expect(yield* ids("?resource_type=thing")).toEqual(["t5", "t4", "t3", "t2", "t1"])
      expect(yield* ids("?resource_id=t4")).toEqual(["t4"])
      expect(yield* ids("?action=thing.removed")).toEqual(["t3"])
      expect(yield* ids("?actor_id=even")).toEqual(["t6", "t4", "t2"])
      // The bounds are exclusive.
      expect(yield* ids("?created_after=2020-01-02T00:00:00Z&created_before=2020-01-05T00:00:00Z")).toEqual([
        "t4",
        "t3"
      ])
      expect(yield* ids("?actor_id=odd&action=thing.made&resource_type=thing")).toEqual(["t5", "t1"])
      const first = yield* a.lines("?resource_type=thing&page_size=2")
      expect(first.results.map((line) => line.resource_id)).toEqual(["t5", "t4"])
      expect(first.count).toBe(5)
      const next = new URL(first.next ?? "")
      expect(next.searchParams.get("resource_type")).toBe("thing")
      expect(yield* ids(next.search)).toEqual(["t3", "t2"])
    })
  )

  it.effect("asks for audit:read, and refuses what is no filter", () =>
    Effect.gen(function* () {
      const { ask } = yield* Running
      const a = yield* open
      const keyWith = (scope: string) =>
        Effect.map(
          ask(a.plaintext, "POST", "/v1/api-keys", { name: scope, scopes: [scope] }),
          ({ json }) => (json as { readonly api_key_plaintext: string }).api_key_plaintext
        )
      const outcome = (key: string) =>
        Effect.map(ask(key, "GET", "/v1/audit"), (answer) => [answer.status, TestServer.codeOf(answer)])
      expect(yield* outcome(yield* keyWith("audit:read"))).toEqual([200, undefined])
      expect(yield* outcome(yield* keyWith("usage:read"))).toEqual([403, "forbidden"])
      const misspelt = ["?resource_type=Call", "?resource_type=call%20", "?action=call", "?action=Call.created"]
      for (const query of [...misspelt, "?created_after=yesterday", "?actor=x", "?action=", "?cursor=x", "?page=0"])
        expect([query, (yield* a.read(query)).status]).toEqual([query, 400])
      expect((yield* a.read("?page=9")).status).toBe(404)
    })
  )
})
