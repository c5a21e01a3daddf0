import { describe, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { request } from "node:http"
import { LoudTenants } from "../../../src/domain/fair/RequestTurns.ts"
import { ApiError } from "../../../src/domain/ApiError.ts"
import * as Monotonic from "../../../src/domain/time/Monotonic.ts"
import { Listening } from "../../../src/edge/http/Server.ts"
import * as EdgeFacts from "../../../src/edge/operator/metric/EdgeFacts.ts"
import * as OwnMetrics from "../../support/OwnMetrics.ts"
import * as TestServer from "./TestServer.ts"

const world = new TestServer.World()

const ask = (method: string, path: string, asked?: TestServer.Asked) =>
  Effect.flatMap(Listening, ({ port }) => Effect.promise(() => TestServer.send(port, method, path, asked)))

/** The lines of `/metrics` with this beginning. */
const lines = (start: string) =>
  Effect.map(PrometheusMetrics.format(), (text) => text.split("\n").filter((line) => line.startsWith(start)))

layer(Layer.provideMerge(TestServer.layer(world), OwnMetrics.layer), { excludeTestServices: true })(
  "What the edge says to /metrics",
  (it) => {
    describe("requests", () => {
      it.effect("are counted by route and status, and those whose clients went away", () =>
        Effect.gen(function* () {
          const { port } = yield* Listening
          yield* ask("GET", `/v1/calls/${TestServer.callOfA}`)
          yield* ask("GET", `/v1/calls/${TestServer.callOfA}`, { key: "svc_live_b" })
          yield* ask("GET", "/v1/calls", { key: null })
          const entered = yield* Deferred.make<void>()
          world.next = Effect.andThen(Deferred.succeed(entered, undefined), Effect.sleep("300 millis"))
          const body = JSON.stringify({ from: "+12025550150", to: "+12025550100" })
          const headers = { authorization: "Bearer svc_live_a", "content-type": "application/json" }
          const outgoing = request({
            host: "127.0.0.1",
            port,
            method: "POST",
            path: "/v1/calls",
            agent: false,
            headers
          })
          outgoing.on("error", () => {})
          outgoing.end(body)
          yield* Deferred.await(entered)
          outgoing.destroy()
          world.next = Effect.void
          yield* Effect.sleep("500 millis")
          const counted = (yield* lines("http_requests_total{")).map((line) => {
            const of = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(line)?.[1]
            return `${of("method")} ${of("route")} ${of("status")} ${line.split(" ").at(-1)}`
          })
          expect(counted.toSorted()).toEqual([
            "GET /v1/calls 401 1",
            "GET /v1/calls/:id 200 1",
            "GET /v1/calls/:id 404 1",
            "POST /v1/calls gone 1"
          ])
          expect((yield* lines("http_request_seconds_count{")).length).toBe(3)
          expect((yield* lines("http_connections ")).length).toBe(1)
        })
      )

      it.effect("that died are counted by what they were answered", () =>
        Effect.gen(function* () {
          const before = yield* lines('http_requests_total{method="POST"')
          world.next = Effect.die(ApiError.of("service_unavailable", "too many lists are being read; try again"))
          const body = JSON.stringify({ from: "+12025550150", to: "+12025550100" })
          expect((yield* ask("POST", "/v1/calls", { body })).status).toBe(503)
          world.next = Effect.die(new Error("a fault"))
          expect((yield* ask("POST", "/v1/calls", { body })).status).toBe(500)
          world.next = Effect.void
          const after = yield* lines('http_requests_total{method="POST"')
          const added = after.filter((line) => !before.includes(line)).map((line) => /status="(\w+)"/.exec(line)?.[1])
          expect(new Set(added)).toEqual(new Set(["500", "503"]))
        })
      )

      it.effect("of the loudest tenants are told, and of no more than ten", () =>
        Effect.gen(function* () {
          const loud = yield* LoudTenants
          const now = yield* Monotonic.now
          for (let n = 0; n < 50; n++) loud.add(`tenant-${n}`, 1_000 * n, now)
          const text = yield* yield* EdgeFacts.make
          const seconds = text.split("\n").filter((line) => line.startsWith("api_loudest_tenant_seconds{"))
          expect(seconds).toHaveLength(10)
          expect(seconds[0]).toBe('api_loudest_tenant_seconds{tenant="tenant-49"} 49')
          expect(text).toContain("\napi_lists_waiting 0\n")
          yield* ask("GET", "/v1/calls")
          expect(loud.top(100, yield* Monotonic.now).map(({ holder }) => holder)).toContain(TestServer.tenantA)
        })
      )
    })
  }
)
