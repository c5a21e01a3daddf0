import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import type { Whole } from "../../../src/egress/Egress.ts"
import * as NodeOperatorEgress from "../../../src/egress/node/NodeOperatorEgress.ts"
import { OperatorEgress } from "../../../src/egress/OperatorEgress.ts"
import { OperatorTarget } from "../../../src/egress/OperatorTarget.ts"
import * as TestCertificate from "../../support/TestCertificate.ts"
import { authority, serve } from "./Egresses.ts"

const own = TestCertificate.makeAuthority("The operator's own")

const target = (url: string, options: Parameters<typeof OperatorTarget.configured>[1] = { plain: false }) =>
  Result.getOrThrow(OperatorTarget.configured(url, options))

const refusal = (url: string, plain = false) =>
  Result.match(OperatorTarget.configured(url, { plain }), { onSuccess: () => null, onFailure: (why) => why })

const open = (service: OperatorTarget) =>
  Effect.flatMap(OperatorEgress, (egress) => egress.open(service)).pipe(
    Effect.provide(NodeOperatorEgress.layer(async () => ["127.0.0.1"]))
  )

const get = (path: string): Whole & { readonly path: string } => ({
  path,
  method: "GET",
  headers: {},
  timeoutMs: 2_000,
  maxResponseBytes: 1_000
})

const plainServer = Effect.acquireRelease(
  Effect.promise(
    () =>
      new Promise<{ readonly at: string; readonly stop: () => void }>((done) => {
        const server = createServer((request, response) => {
          if (request.url?.endsWith("/moved") === true) response.writeHead(302, { location: "/elsewhere" })
          response.write(`${request.method} ${request.url} `)
          request.pipe(response)
        })
        server.listen(0, "127.0.0.1", () => {
          const { port } = server.address() as AddressInfo
          const stop = () => {
            server.close()
            server.closeAllConnections()
          }
          done({ at: `http://storage:${port}/bucket`, stop })
        })
      })
  ),
  ({ stop }) => Effect.sync(stop)
)

describe("a service of the operator's own", () => {
  it("is what configuration says it is", () => {
    for (const url of ["https://10.0.0.5:9000", "https://minio/bucket/", "wss://127.0.0.1/speech", "smtps://mail.lan"])
      assert.isNull(refusal(url), url)
    for (const url of ["http://10.0.0.5:9000", "ws://speech.local/", "smtp://[fd00::1]:25"]) {
      assert.match(refusal(url) ?? "", /^must begin with https:/, url)
      assert.isNull(refusal(url, true), url)
    }
    for (const url of [
      "https://0.0.0.0/",
      "https://224.0.0.1/",
      "https://a:b@minio/",
      "https://minio/?a=b",
      "ftp://minio/"
    ])
      assert.isString(refusal(url, true), url)
  })

  it("is asked for below its path only", () => {
    const minio = target("https://minio:9000/bucket/")
    assert.deepInclude(Result.getOrThrow(minio.at("/a%2Fb/c?x=1")), {
      host: "minio",
      port: 9000,
      path: "/bucket/a%2Fb/c?x=1"
    })
    assert.deepInclude(Result.getOrThrow(target("https://minio").at("/")), { path: "/" })
    for (const path of ["a", "@other.example/", ".other.example/", "/../other", "/%2e%2e/other", "/a\\b", "/a b"])
      assert.isTrue(Result.isFailure(minio.at(path)), path)
    assert.deepInclude(Result.getOrThrow(minio.at("//other.example/x")), {
      host: "minio",
      path: "/bucket//other.example/x"
    })
  })

  it("is no URL, for the compiler", () => {
    const reach = (_service: OperatorTarget) => true
    // @ts-expect-error what a tenant gives is a string
    assert.isTrue(reach("https://10.0.0.5/"))
    // @ts-expect-error nor is anything that looks like one
    assert.isTrue(reach({ authorities: null, at: () => target("https://minio").at("/") }))
  })

  it.live("is reached at a private address, without TLS where it says so", () =>
    Effect.gen(function* () {
      const server = yield* plainServer
      const client = yield* open(target(server.at, { plain: true }))
      const answer = yield* client.request({ ...get("/object"), method: "PUT", body: "bytes" })
      assert.strictEqual(new TextDecoder().decode(answer.body), "PUT /bucket/object bytes")
      const stream = Stream.make(new TextEncoder().encode("flowing"))
      const flowing = yield* client.stream({
        ...get("/object"),
        method: "PUT",
        idleMs: 1_000,
        body: { stream, length: 7 }
      })
      assert.strictEqual(yield* Stream.mkString(Stream.decodeText(flowing.body)), "PUT /bucket/object flowing")
      assert.strictEqual((yield* client.request(get("/moved"))).status, 302)
      assert.strictEqual((yield* Effect.flip(client.request(get("/../other")))).reason, "invalid_url")
    })
  )

  it.live("is trusted by its own authority, which vouches for no other", () =>
    Effect.gen(function* () {
      const server = yield* serve(undefined, own.issue(["storage"]))
      const url = server.at("/", "storage")
      const client = yield* open(target(url, { plain: false, authorities: own.cert }))
      assert.strictEqual((yield* client.request(get("/"))).status, 200)
      assert.deepInclude(yield* client.pin("/", 1_000), { host: "storage", secure: true, authorities: own.cert })
      const other = yield* open(target(url, { plain: false, authorities: authority.cert }))
      assert.strictEqual((yield* Effect.flip(other.request(get("/")))).reason, "tls")
    })
  )

  it.live("is pinned for a socket of another kind, and not asked over HTTP then", () =>
    Effect.gen(function* () {
      const mail = yield* open(target("smtp://mail.lan", { plain: true }))
      assert.deepStrictEqual(yield* mail.pin("/", 1_000), {
        addresses: ["127.0.0.1"],
        port: 587,
        host: "mail.lan",
        path: "/",
        secure: false,
        authorities: null
      })
      assert.strictEqual((yield* Effect.flip(mail.request(get("/")))).reason, "invalid_url")
    })
  )
})
