import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import type { Whole } from "../../../../src/ports/egress/Egress.ts"
import * as NodeOperatorEgress from "../../../../src/ports/egress/node/NodeOperatorEgress.ts"
import { OperatorEgress } from "../../../../src/ports/egress/OperatorEgress.ts"
import { OperatorTarget } from "../../../../src/ports/egress/OperatorTarget.ts"
import * as TestCertificate from "../../../support/network/TestCertificate.ts"
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
  timeoutMs: 60_000,
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
      expect(refusal(url), url).toBeNull()
    for (const url of ["http://10.0.0.5:9000", "ws://speech.local/", "smtp://[fd00::1]:25"]) {
      expect(refusal(url) ?? "", url).toMatch(/^must begin with https:/)
      expect(refusal(url, true), url).toBeNull()
    }
    for (const url of [
      "https://0.0.0.0/",
      "https://224.0.0.1/",
      "https://a:b@minio/",
      "https://minio/?a=b",
      "ftp://minio/"
    ])
      expect(refusal(url, true), url).toBeTypeOf("string")
  })

  it("is asked for below its path only", () => {
    const minio = target("https://minio:9000/bucket/")
    expect(Result.getOrThrow(minio.at("/a%2Fb/c?x=1"))).toMatchObject({
      host: "minio",
      port: 9000,
      path: "/bucket/a%2Fb/c?x=1"
    })
    expect(Result.getOrThrow(target("https://minio").at("/"))).toMatchObject({ path: "/" })
    for (const path of ["a", "@other.example/", ".other.example/", "/../other", "/%2e%2e/other", "/a\\b", "/a b"])
      expect(Result.isFailure(minio.at(path)), path).toBe(true)
    expect(Result.getOrThrow(minio.at("//other.example/x"))).toMatchObject({
      host: "minio",
      path: "/bucket//other.example/x"
    })
  })

  it("is no URL, for the compiler", () => {
    const reach = (_service: OperatorTarget) => true
    // @ts-expect-error what a tenant gives is a string
    expect(reach("https://10.0.0.5/")).toBe(true)
    // @ts-expect-error nor is anything that looks like one
    expect(reach({ authorities: null, at: () => target("https://minio").at("/") })).toBe(true)
  })

  it.live("is reached at a private address, without TLS where it says so", () =>
    Effect.gen(function* () {
      const server = yield* plainServer
      const client = yield* open(target(server.at, { plain: true }))
      const answer = yield* client.request({ ...get("/object"), method: "PUT", body: "bytes" })
      expect(new TextDecoder().decode(answer.body)).toBe("PUT /bucket/object bytes")
      const stream = Stream.make(new TextEncoder().encode("flowing"))
      const flowing = yield* client.stream({
        ...get("/object"),
        method: "PUT",
        idleMs: 60_000,
        body: { stream, length: 7 }
      })
      expect(yield* Stream.mkString(Stream.decodeText(flowing.body))).toBe("PUT /bucket/object flowing")
      expect((yield* client.request(get("/moved"))).status).toBe(302)
      expect((yield* Effect.flip(client.request(get("/../other")))).reason).toBe("invalid_url")
    })
  )

  it.live("is trusted by its own authority, which vouches for no other", () =>
    Effect.gen(function* () {
      const server = yield* serve(undefined, own.issue(["storage"]))
      const url = server.at("/", "storage")
      const client = yield* open(target(url, { plain: false, authorities: own.cert }))
      expect((yield* client.request(get("/"))).status).toBe(200)
      expect(yield* client.pin("/", 60_000)).toMatchObject({ host: "storage", secure: true, authorities: own.cert })
      const other = yield* open(target(url, { plain: false, authorities: authority.cert }))
      expect((yield* Effect.flip(other.request(get("/")))).reason).toBe("tls")
    })
  )

  it.live("is pinned for a socket of another kind, and not asked over HTTP then", () =>
    Effect.gen(function* () {
      const mail = yield* open(target("smtp://mail.lan", { plain: true }))
      expect(yield* mail.pin("/", 60_000)).toStrictEqual({
        addresses: ["127.0.0.1"],
        port: 587,
        host: "mail.lan",
        path: "/",
        secure: false,
        authorities: null
      })
      expect((yield* Effect.flip(mail.request(get("/")))).reason).toBe("invalid_url")
    })
  )
})
