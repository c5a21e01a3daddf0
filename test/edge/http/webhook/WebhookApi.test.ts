import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Id from "../../../../src/domain/Id.ts"
import { Listening } from "../../../../src/edge/http/Server.ts"
import * as TestServer from "../TestServer.ts"

const world = new TestServer.World()

const ask = (method: string, path: string, asked?: TestServer.Asked) =>
  Effect.flatMap(Listening, ({ port }) => Effect.promise(() => TestServer.send(port, method, path, asked)))

const refusal = (method: string, path: string, asked?: TestServer.Asked) =>
  Effect.map(ask(method, path, asked), (answer) => [answer.status, TestServer.codeOf(answer)])

const lastArgs = (door: string) => world.reached.filter((entry) => entry.door === door).at(-1)?.args

const all = "/v1/webhook-subscriptions"
const one = `${all}/${TestServer.subscriptionOfA}`
const unknown = `${all}/${Id.derive("unknown", "sub")}`
const good = { target_url: "https://hook.example", event_types: ["*"] }
const routeId = Id.derive("route", "route")

layer(TestServer.layer(world))("webhooks over HTTP, guide/webhooks.md#subscriptions", (it) => {
  describe("POST /v1/webhook-subscriptions", () => {
    it.effect("answers 201 with what the door rendered, in both slash forms", () =>
      Effect.gen(function* () {
        for (const path of [all, `${all}/`]) {
          const answer = yield* ask("POST", path, { body: good })
          expect(answer.status).toBe(201)
          expect(answer.json).toMatchObject({ id: TestServer.subscriptionOfA, signing_secret: "whsec_x" })
        }
      })
    )

    it.effect("hands over every field, null where one is left out", () =>
      Effect.gen(function* () {
        yield* ask("POST", all, { body: good })
        expect(lastArgs("webhooks.create")?.[1]).toEqual({
          targetUrl: "https://hook.example",
          eventTypes: ["*"],
          description: null,
          connectionId: null
        })
        yield* ask("POST", all, { body: { ...good, description: "d", connection_id: routeId } })
        expect(lastArgs("webhooks.create")?.[1]).toMatchObject({ description: "d", connectionId: routeId })
      })
    )

    it.effect("refuses wrong types, lengths, id forms, and fields that are not its own", () =>
      Effect.gen(function* () {
        for (const body of [
          {},
          { event_types: ["*"] },
          { ...good, target_url: 1 },
          { ...good, event_types: "*" },
          { ...good, event_types: [1] },
          { ...good, description: "x".repeat(201) },
          { ...good, connection_id: "abc" },
          { ...good, is_active: true },
          { ...good, secret: "mine" }
        ])
          expect(yield* refusal("POST", all, { body })).toEqual([400, "invalid_request"])
        // Lengths count code points, like the published limits.
        for (const character of ["x", "\u{1f4de}"])
          expect((yield* ask("POST", all, { body: { ...good, description: character.repeat(200) } })).status).toBe(201)
      })
    )

    it.effect("asks for event types when they are missing, as when the list is empty", () =>
      Effect.gen(function* () {
        const answer = yield* ask("POST", all, { body: { target_url: "https://hook.example" } })
        expect([answer.status, answer.json]).toEqual([
          400,
          { error: { code: "event_types_required", message: "event_types: is required", param: "event_types" } }
        ])
      })
    )
  })

  describe("one subscription", () => {
    it.effect("is read, changed and deleted", () =>
      Effect.gen(function* () {
        expect((yield* ask("GET", one)).json).toMatchObject({ id: TestServer.subscriptionOfA })
        const body = { target_url: "https://b.example", event_types: [], description: null, connection_id: null }
        expect((yield* ask("PATCH", one, { body: { ...body, is_active: false } })).status).toBe(200)
        expect(lastArgs("webhooks.update")?.[2]).toEqual({
          targetUrl: "https://b.example",
          eventTypes: [],
          description: null,
          connectionId: null,
          isActive: false
        })
        yield* ask("PATCH", one, { body: {} })
        expect(lastArgs("webhooks.update")?.[2]).toEqual({})
        const gone = yield* ask("DELETE", one)
        expect([gone.status, gone.text]).toEqual([204, ""])
      })
    )

    it.effect("never shows its secret", () =>
      Effect.gen(function* () {
        expect(yield* refusal("GET", `${one}/signing-secret`)).toEqual([404, "signing_secret_unavailable"])
        expect(yield* refusal("GET", `${unknown}/signing-secret`)).toEqual([404, "subscription_not_found"])
      })
    )

    it.effect("is 404 where it is unknown or another tenant's, 400 where the id has another form", () =>
      Effect.gen(function* () {
        const key = { key: "svc_live_b" }
        for (const [method, asked] of [
          ["GET", {}],
          ["PATCH", { body: {} }],
          ["DELETE", {}]
        ] as const) {
          expect(yield* refusal(method, unknown, asked)).toEqual([404, "subscription_not_found"])
          expect(yield* refusal(method, one, { ...asked, ...key })).toEqual([404, "subscription_not_found"])
          expect(yield* refusal(method, `${all}/${Id.derive("x", "call")}`, asked)).toEqual([400, "invalid_request"])
        }
      })
    )
  })

  describe("lists", () => {
    it.effect("are envelopes", () =>
      Effect.gen(function* () {
        expect((yield* ask("GET", all)).json).toMatchObject({ count: 1, next: null, previous: null })
        expect((yield* ask("GET", "/v1/webhook-deliveries")).json).toEqual({
          count: 0,
          next: null,
          previous: null,
          results: []
        })
      })
    )

    it.effect("pass every filter of deliveries on", () =>
      Effect.gen(function* () {
        const query = new URLSearchParams({
          subscription_id: TestServer.subscriptionOfA,
          status: "failed",
          event_type: "call.ended",
          call_id: TestServer.callOfA,
          created_after: "2026-01-01T00:00:00Z",
          page_size: "7"
        })
        expect((yield* ask("GET", `/v1/webhook-deliveries?${query.toString()}`)).status).toBe(200)
        expect(lastArgs("webhooks.deliveries")).toEqual([
          TestServer.tenantA,
          {
            subscriptionId: TestServer.subscriptionOfA,
            status: "failed",
            eventType: "call.ended",
            callId: TestServer.callOfA,
            createdAfterMs: Date.UTC(2026, 0, 1)
          },
          { limit: 7, offset: 0 }
        ])
      })
    )

    it.effect("refuse filters that do not exist, and values that cannot be", () =>
      Effect.gen(function* () {
        for (const query of [
          "status=lost",
          "event_type=call.exploded",
          "created_after=today",
          "call_id=svc_leg_1",
          "subscription_id=1",
          "x=1"
        ])
          expect(yield* refusal("GET", `/v1/webhook-deliveries?${query}`)).toEqual([400, "invalid_request"])
        expect(yield* refusal("GET", `${all}?status=failed`)).toEqual([400, "invalid_request"])
      })
    )
  })

  it.effect("asks for the webhook scopes", () =>
    Effect.gen(function* () {
      const key = "svc_live_reader"
      for (const [method, path] of [
        ["POST", all],
        ["GET", all],
        ["GET", one],
        ["PATCH", one],
        ["DELETE", one],
        ["GET", "/v1/webhook-deliveries"]
      ] as const)
        expect(yield* refusal(method, path, { key, ...(method === "GET" ? {} : { body: good }) })).toEqual([
          403,
          "forbidden"
        ])
    })
  )
})
