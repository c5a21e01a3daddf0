import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { connect } from "node:net"
import { Api } from "../../../src/edge/http/Api.ts"
import { Listening } from "../../../src/edge/http/Server.ts"
import * as TestServer from "./TestServer.ts"

const world = new TestServer.World()
const limits = { headersMs: 150, requestMs: 300 }

const ask = (method: string, path: string, asked?: TestServer.Asked) =>
  Effect.flatMap(Listening, ({ port }) => Effect.promise(() => TestServer.send(port, method, path, asked)))

const raw = (bytes: string) =>
  Effect.flatMap(Listening, ({ port }) => Effect.promise(() => TestServer.raw(port, bytes)))

const good = { from: "+12025550150", to: "+12025550100" }
const head = (line: string, ...headers: ReadonlyArray<string>) =>
  `${[line, "Host: a", "Authorization: Bearer svc_live_a", "Connection: close", ...headers].join("\r\n")}\r\n\r\n`

/** Status and error code of the (last) response in a byte stream. */
const outcome = (text: string) => [Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), /"code":"([a-z_]+)"/.exec(text)?.[1]]

const bad = [400, "invalid_request"]
const missing = [404, "not_found"]

layer(TestServer.layer(world, { limits }))("hostile HTTP", (it) => {
  /** After each attack the service still answers others. */
  const alive = Effect.map(ask("GET", "/v1/calls"), ({ status }) => expect(status).toBe(200))

  describe("bodies", () => {
    it.effect("malformed JSON and wrong types are a 400", () =>
      Effect.gen(function* () {
        const deep = "[".repeat(100_000) + "]".repeat(100_000)
        for (const body of [
          "{",
          "}",
          "{]",
          "nul",
          '{"from":}',
          "\u0000",
          "'",
          '{"a":1,}',
          "\ufeff{}",
          deep,
          `{"from":${deep}}`,
          '{"from":"\\ud800"}',
          '{"from":"+12025550150","to":"+12025550100","customer_reference":"a\\u0000"}',
          '{"from":"+12025550150","to":"+12025550100","customer_reference":"\\ud83d"}',
          '{"\\u0000":1}',
          '{"__proto__":{"tenantId":"x"},"from":"+12025550150","to":"+12025550100"}',
          '{"constructor":{},"from":"+12025550150","to":"+12025550100"}',
          '{"from":{"$gt":""},"to":["+12025550100"]}',
          '{"from":"+12025550150","to":"+12025550100","timeout_secs":1e999}',
          '{"from":"+12025550150","to":"+12025550100","timeout_secs":9007199254740993}',
          '{"from":"+12025550150\\n","to":"+12025550100"}',
          '{"from":"+12025550150","to":"+1202555٠100"}'
        ]) {
          const answer = yield* ask("POST", "/v1/calls", { body })
          expect([body.slice(0, 40), answer.status, TestServer.codeOf(answer)]).toEqual([body.slice(0, 40), ...bad])
        }
        yield* alive
      })
    )

    it.effect("bytes that are no UTF-8 are a 400", () =>
      Effect.gen(function* () {
        const { port } = yield* Listening
        const text = yield* Effect.callback<string>((resume) => {
          const socket = connect(port, "127.0.0.1")
          const chunks: Array<Buffer> = []
          socket.on("data", (chunk) => chunks.push(chunk))
          socket.on("close", () => resume(Effect.succeed(Buffer.concat(chunks).toString())))
          socket.write(head("POST /v1/calls HTTP/1.1", "Content-Type: application/json", "Content-Length: 4"))
          socket.write(Buffer.from([0x22, 0xff, 0xfe, 0x22]))
        })
        expect(outcome(text)).toEqual(bad)
      })
    )

    it.effect("a body over the limit is a 400, announced or not", () =>
      Effect.gen(function* () {
        const big = JSON.stringify({ ...good, customer_reference: "x".repeat(1024 * 1024) })
        expect((yield* ask("POST", "/v1/calls", { body: big })).status).toBe(400)
        const chunked = `${big.length.toString(16)}\r\n${big}\r\n0\r\n\r\n`
        const type = "Content-Type: application/json"
        expect(
          outcome(yield* raw(head("POST /v1/calls HTTP/1.1", type, "Transfer-Encoding: chunked") + chunked))
        ).toEqual(bad)
        expect(outcome(yield* raw(head("POST /v1/calls HTTP/1.1", type, "Content-Length: 99999999999")))).toEqual(bad)
        yield* alive
      })
    )

    it.effect("a body that goes on for ever is not read on: the answer ends the connection", () =>
      Effect.gen(function* () {
        const { port } = yield* Listening
        for (const headers of [[], ["Idempotency-Key: endless"], ["Authorization: Bearer svc_live_reader"]]) {
          let sent = 0
          const text = yield* Effect.callback<string>((resume) => {
            const socket = connect(port, "127.0.0.1")
            const chunks: Array<Buffer> = []
            const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`
            const more = () => {
              while (socket.writable && socket.write(chunk)) sent += chunk.length
            }
            socket.on("drain", more)
            socket.on("data", (data) => chunks.push(data))
            socket.on("error", () => {})
            socket.on("close", () => resume(Effect.succeed(Buffer.concat(chunks).toString())))
            const first = headers.some((line) => line.startsWith("Authorization"))
              ? ["POST /v1/calls HTTP/1.1", "Host: a"]
              : ["POST /v1/calls HTTP/1.1", "Host: a", "Authorization: Bearer svc_live_a"]
            const type = ["Content-Type: application/json", "Transfer-Encoding: chunked"]
            socket.write(`${[...first, ...type, ...headers].join("\r\n")}\r\n\r\n`, more)
          })
          const forbidden = headers[0]?.startsWith("Authorization") === true
          expect(outcome(text)).toEqual(forbidden ? [403, "forbidden"] : bad)
          if (!forbidden) expect(text).toMatch(/^connection: close/im)
          expect(sent).toBeLessThan(16 * 1024 * 1024)
        }
        yield* alive
      })
    )

    it.effect("a body of thousands of faults is refused in good time", () =>
      Effect.gen(function* () {
        const many = `{${Array.from({ length: 4_000 }, (_, index) => `"f${index}":1`).join(",")}}`
        const long = JSON.stringify({
          target_url: "https://a.example",
          event_types: Array.from({ length: 4_000 }, () => 1)
        })
        for (const [path, body] of [
          ["/v1/calls", many],
          ["/v1/webhook-subscriptions", long]
        ] as const) {
          const before = performance.now()
          const answer = yield* ask("POST", path, { body })
          expect([answer.status, TestServer.codeOf(answer)]).toEqual(bad)
          expect(answer.text.length).toBeLessThan(1_000)
          expect(performance.now() - before).toBeLessThan(2_000)
        }
      })
    )

    it.effect("a body of 64 KiB is read, and a longer one is refused", () =>
      Effect.gen(function* () {
        const body = JSON.stringify(good).padEnd(64 * 1024, " ")
        expect((yield* ask("POST", "/v1/calls", { body })).status).toBe(201)
        expect((yield* ask("POST", "/v1/calls", { body: `${body} ` })).status).toBe(400)
      })
    )

    it.effect("a body that nests too deep, or has too many values, is refused before it is read as JSON", () =>
      Effect.gen(function* () {
        const deep = `{"from":${"[".repeat(17)}${"]".repeat(17)}}`
        const wide = `{"from":[${"1,".repeat(5_000)}1]}`
        for (const [body, why] of [
          [deep, /nests more than 16/],
          [wide, /more than 4096 values/]
        ] as const) {
          const answer = yield* ask("POST", "/v1/calls", { body })
          expect([answer.status, TestServer.codeOf(answer)]).toEqual(bad)
          expect(answer.text).toMatch(why)
        }
      })
    )

    it.effect("text with NUL or half a surrogate pair is refused under the name of its field", () =>
      Effect.gen(function* () {
        for (const [body, param] of [
          ['{"from":"+12025550150","to":"+12025550100","customer_reference":"a\\u0000"}', "customer_reference"],
          ['{"event_types":["*","\\ud83d"],"target_url":"https://a.example"}', "event_types[1]"],
          ['{"a":{"b":[{"c":"\\udc00"}]}}', "a.b[0].c"],
          ['{"a":{"\\u0000":1}}', "a"],
          ['{"\\u0000":1}', undefined]
        ] as const) {
          const answer = yield* ask("POST", "/v1/calls", { body })
          const { error } = answer.json as { readonly error: { readonly code: string; readonly param?: string } }
          expect([answer.status, error.code, error.param]).toEqual([...bad, param])
        }
      })
    )
  })

  describe("foreign ids", () => {
    it.effect("are a 404 on every endpoint that takes one, whoever guesses them", () =>
      Effect.gen(function* () {
        const targets: Array<readonly [method: string, path: string]> = []
        HttpApi.reflect(Api, {
          onGroup: () => {},
          onEndpoint: ({ endpoint }) => {
            const own = endpoint.path.startsWith("/v1/calls/") ? TestServer.callOfA : TestServer.routeOfA
            if (/^\/v1\/(calls|connections)\/:id/.test(endpoint.path))
              targets.push([endpoint.method, endpoint.path.replace(":id", own)])
          }
        })
        expect(targets.length).toBeGreaterThan(20)
        const bodies: Readonly<Record<string, unknown>> = {
          reject: { cause: "rejected" },
          play: { url: "https://media.example.com/a.wav" },
          send_dtmf: { digits: "1" },
          speak: { payload: "Hello", voice: "fake.anna" },
          gather_using_speak: { payload: "Hello", voice: "fake.anna" },
          gather_using_audio: { audio_url: "https://media.example.com/a.wav" },
          transfer: { to: "+12025550101" },
          bridge: { leg_id: `svc_leg_${"0".repeat(32)}` },
          refer: { sip_address: "sip:desk@pbx.example.com" },
          streaming_start: { stream_url: "wss://media.example.com/audio" }
        }
        const before = world.reached.length
        for (const [method, path] of targets) {
          const body = bodies[path.split("/").at(-1) ?? ""]
          const answer = yield* ask(method, path, { key: "svc_live_b", ...(body === undefined ? {} : { body }) })
          expect([path, answer.status, TestServer.codeOf(answer)]).toEqual([path, ...missing])
        }
        expect(world.reached).toHaveLength(before)
      })
    )
  })

  describe("paths", () => {
    it.effect("tricks lead nowhere", () =>
      Effect.gen(function* () {
        for (const path of [
          "//v1/calls",
          "/v1//calls",
          "/v1/./calls",
          "/v1/../v1/calls",
          "/v1%2fcalls",
          "/v1/calls%2f",
          "/v1/calls;a=1",
          "/v1/calls;",
          "/v1/calls#a",
          `/v1/calls/${TestServer.callOfA};a=1`,
          `/v1/calls/${TestServer.callOfA}#a`,
          "/v1/calls/..",
          "/%76%31/c%61lls/x/y",
          "/v1/calls\\",
          "/v1/calls%00",
          "/.git/config",
          "/v1/calls/%c0%af",
          "/v1/calls/%zz",
          "/v1/calls/%",
          "/v1/calls/..%2f..%2fetc",
          `/v1/calls/${"a".repeat(8_000)}`,
          `/v1/calls/${TestServer.callOfA}%00`,
          `/v1/calls/${TestServer.callOfA}%2factions%2fhangup`,
          `/${"a/".repeat(4_000)}`
        ]) {
          const answer = yield* ask("GET", path)
          expect([path.slice(0, 60), [400, 404].includes(answer.status), typeof TestServer.codeOf(answer)]).toEqual([
            path.slice(0, 60),
            true,
            "string"
          ])
        }
        yield* alive
      })
    )

    it.effect("with an empty part lead nowhere", () =>
      Effect.gen(function* () {
        for (const path of ["/v1/calls//", "/v1/calls//?page=1", "/v1//", "/v1/calls///", "/v1/api-keys//"]) {
          const answer = yield* ask("GET", path)
          expect([path, answer.status, TestServer.codeOf(answer)]).toEqual([path, ...missing])
        }
      })
    )

    it.effect("query strings are read as they stand", () =>
      Effect.gen(function* () {
        for (const query of [
          "page=%zz",
          "page=%00",
          "status=%00",
          "page[]=1",
          "page[$gt]=1",
          "page=1;drop",
          "__proto__=1",
          "constructor=1",
          "=1",
          "&&&&page=x",
          `status=${"a".repeat(8_000)}`,
          "status=ended&status=ended"
        ]) {
          const answer = yield* ask("GET", `/v1/calls?${query}`)
          expect([query.slice(0, 40), answer.status, TestServer.codeOf(answer)]).toEqual([query.slice(0, 40), ...bad])
        }
      })
    )
  })

  describe("methods", () => {
    it.effect("are what the request line says, whatever headers claim", () =>
      Effect.gen(function* () {
        const before = world.reached.length
        for (const name of ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"]) {
          const answer = yield* ask("POST", `/v1/calls/${TestServer.callOfA}`, { headers: { [name]: "GET" } })
          expect([answer.status, TestServer.codeOf(answer)]).toEqual([405, "method_not_allowed"])
        }
        for (const method of ["PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "PURGE"])
          expect((yield* ask(method, "/v1/calls")).status).toBe(405)
        expect(world.reached).toHaveLength(before)
      })
    )

    it.effect("that are none are a 400", () =>
      Effect.gen(function* () {
        for (const line of [
          "GARBAGE /v1/calls HTTP/1.1",
          "get /v1/calls HTTP/1.1",
          "GET /v1/calls HTTP/9.9",
          "\u0000\u0001"
        ])
          expect(outcome(yield* raw(head(line)))).toEqual(bad)
        yield* alive
      })
    )
  })

  describe("headers", () => {
    it.effect("that are too long, or a URL that is, get the envelope", () =>
      Effect.gen(function* () {
        const long = "x".repeat(20_000)
        expect(outcome(yield* raw(head("GET /v1/calls HTTP/1.1", `X-Long: ${long}`)))).toEqual(bad)
        expect(outcome(yield* raw(head(`GET /v1/calls?${long} HTTP/1.1`)))).toEqual(bad)
      })
    )

    it.effect("that frame a request in two ways are refused (RFC 9112 section 6.3)", () =>
      Effect.gen(function* () {
        const post = "POST /v1/calls HTTP/1.1"
        for (const headers of [
          ["Content-Length: 3", "Transfer-Encoding: chunked"],
          ["Content-Length: 3", "Content-Length: 4"],
          ["Content-Length: -1"],
          ["Content-Length: 1, 2"],
          ["Transfer-Encoding: gzip"],
          ["Bad Header: 1"],
          ["X: a\u0000b"]
        ])
          expect([headers, outcome(yield* raw(`${head(post, ...headers)}{}`))]).toEqual([headers, bad])
        yield* alive
      })
    )

    it.effect("given twice count once: the first credential, no second one", () =>
      Effect.gen(function* () {
        const twice = yield* raw(head("GET /v1/calls HTTP/1.1", "Authorization: Bearer svc_live_b"))
        expect(twice).toContain('"count":45')
        const types = yield* raw(
          `${head("POST /v1/calls HTTP/1.1", "Content-Type: application/json", "Content-Type: text/plain", "Content-Length: 2")}{}`
        )
        expect(outcome(types)).toEqual(bad)
      })
    )

    it.effect("without Host are refused with the envelope (RFC 9112 section 3.2)", () =>
      Effect.gen(function* () {
        expect(outcome(yield* raw("GET /v1/calls HTTP/1.1\r\nConnection: close\r\n\r\n"))).toEqual(bad)
      })
    )

    it.effect("that ask for an upgrade or expect something odd change nothing", () =>
      Effect.gen(function* () {
        for (const headers of [["Upgrade: websocket"], ["Upgrade: h2c", "HTTP2-Settings: x"], ["Expect: miracles"]])
          expect(outcome(yield* raw(head("GET /v1/calls HTTP/1.1", ...headers)))[0]).toBe(200)
      })
    )
  })

  describe("slow clients", () => {
    it.effect("that do not finish their headers are cut off with the envelope", () =>
      Effect.gen(function* () {
        const text = yield* raw("GET /v1/calls HTTP/1.1\r\nHost: a\r\n")
        expect([outcome(text), /^connection: close/im.test(text)]).toEqual([bad, true])
      })
    )

    it.effect("that do not finish their body are cut off, and nothing is done", () =>
      Effect.gen(function* () {
        const before = world.reached.length
        const text = yield* raw(
          `${head("POST /v1/calls HTTP/1.1", "Content-Type: application/json", "Content-Length: 100")}{"from":`
        )
        expect([outcome(text), /^connection: close/im.test(text)]).toEqual([bad, true])
        expect(world.reached).toHaveLength(before)
        yield* alive
      })
    )
  })
})
