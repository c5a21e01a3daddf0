import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { request } from "node:http"
import { gzipSync } from "node:zlib"
import * as Id from "../../../src/domain/Id.ts"
import { ApiError } from "../../../src/domain/ApiError.ts"
import { Listening } from "../../../src/edge/http/Server.ts"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as TestServer from "./TestServer.ts"

const world = new TestServer.World()

const ask = (method: string, path: string, asked?: TestServer.Asked) =>
  Effect.flatMap(Listening, ({ port }) => Effect.promise(() => TestServer.send(port, method, path, asked)))

const refusal = (method: string, path: string, asked?: TestServer.Asked) =>
  Effect.map(ask(method, path, asked), (answer) => [answer.status, TestServer.codeOf(answer)])

interface Refused {
  readonly error: { readonly code: string; readonly message: string }
}

const good = { from: "+12025550150", to: "+12025550100" }
const oneCall = `/v1/calls/${TestServer.callOfA}`

layer(TestServer.layer(world))("the HTTP edge", (it) => {
  describe("authentication, guide/authentication.md", () => {
    it.effect("asks for a credential where there is none, or none of the form Bearer key", () =>
      Effect.gen(function* () {
        const required = [401, "authentication_required"]
        expect(yield* refusal("GET", "/v1/calls", { key: null })).toEqual(required)
        for (const authorization of ["", "svc_live_a", "Basic c3ZjX2xpdmVfYQ==", "Bearer", "Bearer ", "Bearer a b"])
          expect(yield* refusal("GET", "/v1/calls", { key: null, headers: { authorization } })).toEqual(required)
      })
    )

    it.effect("refuses a Bearer value that is no live key", () =>
      Effect.gen(function* () {
        expect(yield* refusal("GET", "/v1/calls", { key: "svc_live_unknown" })).toEqual([401, "invalid_credentials"])
      })
    )

    it.effect("takes the scheme in any case (RFC 9110 section 11.1)", () =>
      Effect.gen(function* () {
        const answer = yield* ask("GET", "/v1/calls", { key: null, headers: { authorization: "bearer svc_live_a" } })
        expect(answer.status).toBe(200)
      })
    )
  })

  describe("an answer that is still being sent, guide/authentication.md#long-answers", () => {
    /** Begins a download that never ends by itself. `ended`: how its connection ended. */
    const download = Effect.gen(function* () {
      const { port } = yield* Listening
      const rated = { destination: null, rate_micro_usd_per_minute: null, increments: null, billed_seconds: null }
      const record = { ...TestServer.call(TestServer.callOfA), ...rated }
      world.whole = Stream.concat(Stream.succeed([record]), Stream.never)
      return yield* Effect.callback<{ readonly ended: Effect.Effect<"cut" | "whole"> }>((resume) => {
        const asked = request({ port, path: "/v1/calls.csv", headers: { authorization: "Bearer svc_live_a" } })
        asked.on("response", (response) => {
          const closed = new Promise<"cut" | "whole">((resolve) => {
            response.on("error", () => {})
            response.on("close", () => resolve(response.complete ? "whole" : "cut"))
          })
          response.once("data", () => {
            response.resume()
            resume(Effect.succeed({ ended: Effect.promise(() => closed) }))
          })
        })
        asked.end()
      })
    })

    it.effect("ends within seconds when its caller may not read it any more", () =>
      Effect.gen(function* () {
        for (const lost of [world.suspended, world.closed]) {
          const { ended } = yield* download
          const end = yield* Effect.forkChild(ended)
          yield* TestClock.adjust("10 seconds")
          expect(end.pollUnsafe()).toBe(undefined)
          lost.add(TestServer.tenantA)
          yield* TestClock.adjust("2 seconds")
          expect(yield* Fiber.join(end)).toBe("cut")
          lost.delete(TestServer.tenantA)
        }
      }).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            world.suspended.clear()
            world.closed.clear()
            world.whole = Stream.empty
          })
        )
      )
    )
  })

  describe("order of checks, guide/authentication.md#order-of-checks", () => {
    it.effect("is 401, 403 scope, 403 tenant, 400", () =>
      Effect.gen(function* () {
        const bad = { body: { nonsense: true } }
        world.suspended.add(TestServer.tenantA)
        const answers = [
          yield* refusal("POST", "/v1/calls", { ...bad, key: null }),
          yield* refusal("POST", "/v1/calls", { ...bad, key: "svc_live_reader" }),
          yield* refusal("POST", "/v1/calls", bad)
        ]
        world.suspended.delete(TestServer.tenantA)
        expect(answers).toEqual([
          [401, "authentication_required"],
          [403, "forbidden"],
          [403, "tenant_suspended"]
        ])
        expect(yield* refusal("POST", "/v1/calls", bad)).toEqual([400, "invalid_request"])
      })
    )

    it.effect("a suspended tenant may see its money and pay, a closed one only see it", () =>
      Effect.gen(function* () {
        const pay = refusal("POST", "/v1/billing/topup", { body: { nonsense: true } })
        const see = refusal("GET", "/v1/billing/balance?nonsense=1", {})
        world.suspended.add(TestServer.tenantA)
        expect([yield* pay, yield* see]).toEqual([
          [400, "invalid_request"],
          [400, "invalid_request"]
        ])
        world.suspended.delete(TestServer.tenantA)
        world.closed.add(TestServer.tenantA)
        const answers = [yield* pay, yield* see]
        world.closed.delete(TestServer.tenantA)
        expect(answers).toEqual([
          [403, "tenant_suspended"],
          [400, "invalid_request"]
        ])
      })
    )

    it.effect("says what the door says, with the raising site's status", () =>
      Effect.gen(function* () {
        world.next = Effect.fail(new ApiError({ code: "from_number_not_owned", message: "no", status: 422 }))
        const answer = yield* ask("POST", "/v1/calls", { body: good, undocumented: true })
        world.next = Effect.void
        expect(answer.status).toBe(422)
        expect(answer.text).toBe('{"error":{"code":"from_number_not_owned","message":"no"}}')
      })
    )
  })

  describe("paths and methods", () => {
    it.effect("answers unknown paths with 404 before it asks for a key", () =>
      Effect.gen(function* () {
        for (const path of ["/v1", "/v2/calls", "/v1/calls/x/y/z", "/v1/Calls"])
          expect(yield* refusal("GET", path, { key: null })).toEqual([404, "not_found"])
      })
    )

    it.effect("answers 405 with Allow where the path has other methods", () =>
      Effect.gen(function* () {
        const wrong = yield* ask("DELETE", "/v1/calls/")
        expect([wrong.status, TestServer.codeOf(wrong), wrong.headers["allow"]]).toEqual([
          405,
          "method_not_allowed",
          "GET, HEAD, OPTIONS, POST"
        ])
        expect((yield* ask("GET", `${oneCall}/actions/hangup`)).headers["allow"]).toBe("OPTIONS, POST")
      })
    )

    it.effect("answers 405 on a static path beside a parameter, which does not take it for an id", () =>
      Effect.gen(function* () {
        for (const [method, path, allow] of [
          ["GET", "/v1/numbers/order", "OPTIONS, POST"],
          ["HEAD", "/v1/numbers/order/", "OPTIONS, POST"],
          ["DELETE", "/v1/numbers/order?x=1", "OPTIONS, POST"],
          ["PATCH", "/v1/numbers/available", "GET, HEAD, OPTIONS"],
          ["DELETE", "/v1/numbers/orders", "GET, HEAD, OPTIONS"]
        ] as const) {
          const answer = yield* ask(method, path)
          expect([path, answer.status, answer.headers["allow"]]).toEqual([path, 405, allow])
        }
      })
    )

    it.effect("tells the methods of a path to OPTIONS, without a key", () =>
      Effect.gen(function* () {
        const answer = yield* ask("OPTIONS", oneCall, { key: null })
        expect([answer.status, answer.text, answer.headers["allow"]]).toEqual([204, "", "GET, HEAD, OPTIONS"])
        expect((yield* ask("OPTIONS", "/v1/numbers/order")).headers["allow"]).toBe("OPTIONS, POST")
        expect(yield* refusal("OPTIONS", "/nowhere")).toEqual([404, "not_found"])
      })
    )

    it.effect("reads two spellings of one path as one path (RFC 3986 section 6.2.2.2, RFC 9112 section 3.2.2)", () =>
      Effect.gen(function* () {
        const key = { "idempotency-key": "spelling" }
        const spelled = `/v1/c%61lls/${TestServer.callOfA.replace("svc", "%73vc")}/actions/hangup`
        const first = yield* ask("POST", `${oneCall}/actions/hangup`, { headers: key })
        for (const path of [spelled, `http://a.example${oneCall}/actions/hangup`, `${spelled}/`]) {
          const again = yield* ask("POST", path, { headers: key })
          expect([path, again.status, again.headers["idempotent-replayed"]]).toEqual([path, 200, "true"])
        }
        expect([first.status, first.headers["idempotent-replayed"]]).toEqual([200, undefined])
      })
    )

    it.effect("serves both slash forms of every path without a redirect", () =>
      Effect.gen(function* () {
        for (const slash of ["", "/"]) {
          expect((yield* ask("GET", `/v1/calls${slash}`)).status).toBe(200)
          expect((yield* ask("GET", `/v1/calls${slash}?page=1`)).status).toBe(200)
          expect((yield* ask("GET", `${oneCall}${slash}`)).status).toBe(200)
          expect((yield* ask("POST", `${oneCall}/actions/hangup${slash}`)).status).toBe(200)
          expect((yield* ask("GET", `/api/docs${slash}`)).status).toBe(200)
        }
      })
    )

    it.effect("answers HEAD like GET, without the body", () =>
      Effect.gen(function* () {
        const answer = yield* ask("HEAD", oneCall)
        expect([answer.status, answer.text]).toEqual([200, ""])
      })
    )

    it.effect("refuses an id of another form with 400, an unknown or foreign one with 404", () =>
      Effect.gen(function* () {
        for (const id of ["abc", TestServer.callOfA.toUpperCase(), TestServer.routeOfA])
          expect(yield* refusal("GET", `/v1/calls/${id}`)).toEqual([400, "invalid_request"])
        const own = TestServer.callOfA
        for (const id of [
          `svc_call_${"0".repeat(32)}`,
          "svc_call_",
          `${own}0`,
          own.slice(0, -1),
          `${own}%20`,
          `${own}%20x`,
          `${own}%0a`,
          `${own};x=1`,
          `svc_call_${own.slice(9).toUpperCase()}`,
          own.replace(/[0-9]/, "%d9%a1")
        ])
          expect([id, ...(yield* refusal("GET", `/v1/calls/${id}`))]).toEqual([id, 404, "not_found"])
        expect(yield* refusal("GET", oneCall, { key: "svc_live_b" })).toEqual([404, "not_found"])
      })
    )
  })

  describe("closed requests, guide/requests.md#closed-requests-open-answers", () => {
    it.effect("names the unknown field of a body, in words and as param", () =>
      Effect.gen(function* () {
        const answer = yield* ask("POST", "/v1/calls", { body: { ...good, colour: "red" } })
        expect(answer.text).toBe(
          '{"error":{"code":"invalid_request","message":"colour: is not known here","param":"colour"}}'
        )
      })
    )

    it.effect("names every fault of a body, and the parameter of a query", () =>
      Effect.gen(function* () {
        const answer = yield* ask("POST", "/v1/calls", { body: { from: "1", timeout_secs: 0, record: "x" } })
        expect(answer.json).toMatchObject({ error: { code: "invalid_request", param: "from" } })
        for (const name of ["from: ", "to: is required", "timeout_secs: ", "record: "])
          expect(answer.text).toContain(name)
        const query = yield* ask("GET", "/v1/calls?page=0&status=gone")
        expect(query.json).toMatchObject({ error: { code: "invalid_request", param: "status" } })
        expect(query.text).toContain("page: ")
      })
    )

    it.effect("refuses an id in a body that is not the whole id, before any door", () =>
      Effect.gen(function* () {
        const before = world.reached.length
        for (const [id, expected] of [
          [`${TestServer.routeOfA} `, [404, "not_found"]],
          [`${TestServer.routeOfA} x`, [404, "not_found"]],
          [`${TestServer.routeOfA}\n`, [404, "not_found"]],
          [TestServer.callOfA, [400, "invalid_request"]],
          [` ${TestServer.routeOfA}`, [400, "invalid_request"]]
        ] as const) {
          const answer = yield* ask("POST", "/v1/calls", { body: { ...good, route_id: id } })
          expect([id, answer.status, TestServer.codeOf(answer)]).toEqual([id, ...expected])
          expect(answer.json).toMatchObject({ error: { param: "route_id" } })
        }
        for (const path of ["/v1/numbers?route_id=", "/v1/webhook-deliveries?subscription_id="])
          for (const id of ["abc", "svc_route_1", `${TestServer.routeOfA}%20`, `${TestServer.subscriptionOfA}%20`])
            expect([path + id, ...(yield* refusal("GET", path + id))]).toEqual([path + id, 400, "invalid_request"])
        expect(world.reached).toHaveLength(before)
      })
    )

    it.effect("refuses unknown query parameters, on lists and elsewhere", () =>
      Effect.gen(function* () {
        for (const path of ["/v1/calls?from=%2B12025550150", "/v1/calls?page=1&x", `${oneCall}?x=1`])
          expect(yield* refusal("GET", path)).toEqual([400, "invalid_request"])
        expect(yield* refusal("POST", "/v1/calls?x=1", { body: good })).toEqual([400, "invalid_request"])
      })
    )

    it.effect("wants JSON, as application/json in UTF-8", () =>
      Effect.gen(function* () {
        const body = JSON.stringify(good)
        const bad = [400, "invalid_request"]
        for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
          expect(yield* refusal("POST", "/v1/calls", { body, headers: { "content-type": type } })).toEqual(bad)
        for (const text of ["", "{", "null", "[]", '"x"', "1", '{"from":"+12025550150","to":"+12025550100"} x'])
          expect(yield* refusal("POST", "/v1/calls", { body: text })).toEqual(bad)
        const headers = { "content-type": "application/json; charset=utf-8" }
        expect((yield* ask("POST", "/v1/calls", { body, headers })).status).toBe(201)
      })
    )

    it.effect("says which Content-Type it wants, whatever the body is made of", () =>
      Effect.gen(function* () {
        const { port } = yield* Listening
        const forms = ["from=%2B12025550150&to=%2B12025550100", "null", "a,".repeat(5_000), "x".repeat(70_000)]
        const bytes = Buffer.concat([
          Buffer.from("--x\r\n\r\n"),
          Buffer.from([0xff, 0xfe, 0x00]),
          Buffer.from("\r\n--x--")
        ])
        const document = `/v1/porting/orders/${Id.derive("an order", "port")}/documents`
        for (const type of ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/csv", ""])
          for (const path of ["/v1/calls", `${oneCall}/actions/hangup`, "/v1/auth/login", document])
            for (const form of [...forms, bytes]) {
              const answer = yield* Effect.promise(() =>
                fetch(`http://127.0.0.1:${port}${path}`, {
                  method: "POST",
                  body: typeof form === "string" ? Buffer.from(form) : form,
                  headers: { authorization: "Bearer svc_live_a", "content-type": type }
                })
              )
              const { error } = JSON.parse(yield* Effect.promise(() => answer.text())) as Refused
              const named = type === "" ? "" : `, not ${type.split(";")[0]}`
              expect([path, form.length, answer.status, error]).toEqual([
                path,
                form.length,
                400,
                {
                  code: "invalid_request",
                  message: `the body must be JSON, with Content-Type: application/json${named}`
                }
              ])
            }
      })
    )

    it.effect.each(["gzip", "deflate", "br", "GZIP", "gzip, identity", "what"])(
      "reads no body with Content-Encoding: %s",
      (coding) =>
        Effect.gen(function* () {
          const document = `/v1/porting/orders/${Id.derive("an order", "port")}/documents`
          const before = world.reached.length
          for (const path of ["/v1/calls", `${oneCall}/actions/hangup`, "/v1/auth/login", document])
            for (const body of [JSON.stringify(good), gzipSync(JSON.stringify(good)).toString("latin1")]) {
              const answer = yield* ask("POST", path, { body, headers: { "content-encoding": coding } })
              expect([path, answer.status, TestServer.codeOf(answer)]).toEqual([path, 415, "invalid_request"])
              expect(answer.text).toContain(`Content-Encoding: ${coding.toLowerCase()}`)
              expect(answer.headers["accept-encoding"]).toBe("identity")
            }
          expect(world.reached).toHaveLength(before)
        })
    )

    it.effect("reads a body with Content-Encoding: identity, and an empty one with any", () =>
      Effect.gen(function* () {
        for (const coding of ["identity", ""]) {
          const answer = yield* ask("POST", "/v1/calls", { body: good, headers: { "content-encoding": coding } })
          expect(answer.status).toBe(201)
        }
        const headers = { "content-encoding": "gzip" }
        expect((yield* ask("POST", `${oneCall}/actions/hangup`, { body: "", headers })).status).toBe(200)
        expect((yield* ask("GET", "/v1/calls", { headers })).status).toBe(200)
      })
    )

    it.effect("takes no body or {} where an action has none", () =>
      Effect.gen(function* () {
        const path = `${oneCall}/actions/hangup`
        expect((yield* ask("POST", path)).status).toBe(200)
        expect((yield* ask("POST", path, { body: {} })).status).toBe(200)
        expect(yield* refusal("POST", path, { body: { now: true } })).toEqual([400, "invalid_request"])
        expect(yield* refusal("POST", path, { body: [] })).toEqual([400, "invalid_request"])
        for (const body of ["null", " null\n"])
          for (const verb of ["hangup", "stop_playback", "gather"])
            expect(yield* refusal("POST", `${oneCall}/actions/${verb}`, { body })).toEqual([400, "invalid_request"])
        // An empty body is no body, whatever its content type.
        const { port } = yield* Listening
        for (const type of ["text/plain", "application/json", "nonsense"]) {
          const empty = { body: "", headers: { "content-type": type } }
          expect([type, (yield* ask("POST", path, empty)).status]).toEqual([type, 200])
          const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer svc_live_a\r\nConnection: close`
          const chunked = `${head}\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
          expect(yield* Effect.promise(() => TestServer.raw(port, chunked))).toMatch(/^HTTP\/1\.1 200 /)
        }
      })
    )
  })

  describe("pagination, guide/requests.md#lists", () => {
    it.effect("gives 20 rows, absolute links in the documented form, and keeps filters", () =>
      Effect.gen(function* () {
        const first = (yield* ask("GET", "/v1/calls/?status=ended")).json
        expect(first).toMatchObject({
          count: 45,
          next: "https://api.example.com/v1/calls?status=ended&page=2&cursor=20",
          previous: null
        })
        expect((first as { readonly results: ReadonlyArray<unknown> }).results).toHaveLength(20)
        const last = (yield* ask("GET", "/v1/calls?page=3&direction=outbound&page_size=20")).json
        expect(last).toMatchObject({
          next: null,
          previous: "https://api.example.com/v1/calls?direction=outbound&page_size=20&page=2"
        })
      })
    )

    it.effect("clamps page_size at 200", () =>
      Effect.gen(function* () {
        for (const size of ["1000", "9".repeat(400)]) {
          yield* ask("GET", `/v1/calls?page_size=${size}`)
          expect(world.reached.at(-1)?.args[2]).toEqual({ limit: 200, offset: 0 })
        }
      })
    )

    it.effect("refuses what is no whole number of 1 or more", () =>
      Effect.gen(function* () {
        for (const value of ["0", "-1", "1.5", "1e1", "0x1", "", "a", "%201"])
          for (const name of ["page", "page_size"])
            expect([name, value, ...(yield* refusal("GET", `/v1/calls?${name}=${value}`))]).toEqual([
              name,
              value,
              400,
              "invalid_request"
            ])
        expect(yield* refusal("GET", "/v1/calls?page=1&page=2")).toEqual([400, "invalid_request"])
      })
    )

    it.effect("answers a page beyond the last with 404, the first page of nothing with 200", () =>
      Effect.gen(function* () {
        for (const page of ["4", "9999999999", "9".repeat(400)])
          expect(yield* refusal("GET", `/v1/calls?page=${page}`)).toEqual([404, "not_found"])
        const nothing = yield* ask("GET", "/v1/calls", { key: "svc_live_b" })
        expect([nothing.status, nothing.text]).toEqual([200, '{"count":0,"next":null,"previous":null,"results":[]}'])
      })
    )
  })

  describe("headers, guide/requests.md#what-a-status-means", () => {
    it.effect("carries none that the guide does not show", () =>
      Effect.gen(function* () {
        for (const path of ["/v1/calls", "/nowhere"]) {
          const { headers } = yield* ask("GET", path, { headers: { "x-request-id": "1", traceparent: "00-1-1-00" } })
          const shown = Object.keys(headers).filter((name) => name !== "vary" || path !== "/v1/calls")
          expect(shown.sort()).toEqual(["connection", "content-length", "content-type", "date"])
        }
      })
    )
  })

  describe("faults", () => {
    it.effect("answers a defect with 500 internal_error and nothing of its cause", () =>
      Effect.gen(function* () {
        world.next = Effect.die(new Error("secret detail"))
        const answer = yield* ask("POST", "/v1/calls", { body: good })
        world.next = Effect.void
        expect([answer.status, TestServer.codeOf(answer)]).toEqual([500, "internal_error"])
        expect(answer.text).not.toContain("secret")
      })
    )

    it.effect("answers 503 without Retry-After when the service cannot take it", () =>
      Effect.gen(function* () {
        for (const next of [
          Effect.fail(ApiError.of("service_unavailable", "busy")),
          Effect.die(
            new SqlError({
              reason: new ConnectionError({ cause: new Error("away"), message: "away", operation: "connect" })
            })
          )
        ]) {
          world.next = next
          const answer = yield* ask("POST", "/v1/calls", { body: good })
          world.next = Effect.void
          expect([answer.status, TestServer.codeOf(answer)]).toEqual([503, "service_unavailable"])
          expect(answer.headers["retry-after"]).toBeUndefined()
        }
      })
    )
  })

  describe("connections, guide/connections.md#routes", () => {
    it.effect("lists and retrieves", () =>
      Effect.gen(function* () {
        const one = (yield* ask("GET", `/v1/connections/${TestServer.routeOfA}`)).json
        expect((yield* ask("GET", "/v1/connections")).json).toEqual({
          count: 1,
          next: null,
          previous: null,
          results: [one]
        })
        expect(yield* refusal("GET", `/v1/connections/${TestServer.routeOfA}`, { key: "svc_live_b" })).toEqual([
          404,
          "not_found"
        ])
        expect(yield* refusal("GET", "/v1/connections", { key: "svc_live_reader" })).toEqual([403, "forbidden"])
      })
    )
  })
})
