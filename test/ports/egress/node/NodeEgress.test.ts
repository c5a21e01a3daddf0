import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { Egress, EgressError, type EgressRequest } from "../../../../src/ports/egress/Egress.ts"
import * as NodeEgress from "../../../../src/ports/egress/node/NodeEgress.ts"
import * as BusyListener from "../../../support/network/BusyListener.ts"
import * as DataDirectory from "../../../support/DataDirectory.ts"
import * as TestCertificate from "../../../support/network/TestCertificate.ts"
import { authority, egressOf, listen, serve } from "./Egresses.ts"

const get = (url: string, more: Partial<EgressRequest> = {}): EgressRequest => ({
  url,
  method: "GET",
  headers: {},
  timeoutMs: 60_000,
  maxResponseBytes: 1_000,
  ...more
})

const bodyText = ({ body }: { readonly body: Uint8Array }) => new TextDecoder().decode(body)

const failure = (egress: Egress["Service"], request: EgressRequest) => Effect.flip(egress.request(request))

describe("egress over node:https", () => {
  it.live("posts a body and gives back status, headers and body", () =>
    Effect.gen(function* () {
      const server = yield* serve((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          response.writeHead(202, { "X-Method": request.method, "X-Host": request.headers.host })
          response.end(`${request.headers["content-length"]} ${Buffer.concat(chunks).toString()}`)
        })
      })
      const egress = yield* egressOf()
      const answer = yield* egress.request({ ...get(server.at("/a?b")), method: "POST", body: "grüezi" })
      expect(answer.status).toBe(202)
      expect(answer.headers["x-method"]).toBe("POST")
      expect(answer.headers["x-host"]).toBe(`hook.example:${server.port}`)
      expect(bodyText(answer)).toBe("7 grüezi")
    })
  )

  it.live("puts, heads and deletes", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const server = yield* serve((request, response) => {
        request.on("data", (chunk: Buffer) => seen.push(chunk.toString()))
        seen.push(`${request.method} ${request.headers["content-length"] ?? "-"}`)
        request.on("end", () => response.writeHead(request.method === "DELETE" ? 204 : 200).end())
      })
      const egress = yield* egressOf()
      expect((yield* egress.request({ ...get(server.at()), method: "PUT", body: "whole" })).status).toBe(200)
      expect((yield* egress.request({ ...get(server.at()), method: "PUT" })).status).toBe(200)
      expect((yield* egress.request({ ...get(server.at()), method: "DELETE" })).status).toBe(204)
      expect(seen).toStrictEqual(["PUT 5", "whole", "PUT 0", "DELETE -"])
    })
  )

  it.live("takes what HEAD says of a long body for what it is", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => response.writeHead(200, { "content-length": 1e9 }).end())
      const answer = yield* (yield* egressOf()).request({ ...get(server.at()), method: "HEAD" })
      expect(answer).toMatchObject({ status: 200, body: new Uint8Array(0) })
      expect(answer.headers["content-length"]).toBe("1000000000")
    })
  )

  it.live("reads a paced answer whole, in order, up to its limit, and uses its connection again", () =>
    Effect.gen(function* () {
      const long = Buffer.from(Uint32Array.from({ length: 500_000 }, (_, index) => index).buffer)
      const server = yield* serve((request, response) => response.end(request.url === "/empty" ? "" : long))
      const egress = yield* egressOf()
      const paced = (path: string, holder: string, maxResponseBytes = long.length) =>
        get(server.at(path), { pacedFor: holder, maxResponseBytes })
      const answers = yield* Effect.forEach(["a", "a", "a", "b"], (holder) => egress.request(paced("/", holder)), {
        concurrency: "unbounded"
      })
      for (const { body } of answers) expect(Buffer.compare(body, long)).toBe(0)
      expect((yield* egress.request(paced("/empty", "a"))).body).toHaveLength(0)
      expect(server.connections).toHaveLength(4)
      expect((yield* failure(egress, paced("/", "a", long.length - 1))).reason).toBe("too_large")
      const cut = yield* egress.request({ ...paced("/", "a", 1000), truncate: { afterMs: 10_000 } })
      expect(Buffer.compare(cut.body, long.subarray(0, 1000))).toBe(0)
    })
  )

  it.live("ends a paced answer that comes a byte at a time when its time is over", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => {
        const drip = setInterval(() => response.write("."), 20)
        response.on("close", () => clearInterval(drip))
      })
      const request = get(server.at(), { pacedFor: "a", timeoutMs: 300 })
      expect((yield* failure(yield* egressOf(), request)).reason).toBe("timeout")
    })
  )

  it.live("uses one connection for requests in turn, and no more than allowed for requests at once", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => setImmediate(() => response.end("ok")))
      const egress = yield* egressOf({ maxConnectionsPerDestination: 3 })
      for (let n = 0; n < 5; n++) yield* egress.request(get(server.at()))
      expect(server.connections).toHaveLength(1)
      yield* Effect.forEach(Array.from({ length: 20 }), () => egress.request(get(server.at())), {
        concurrency: "unbounded"
      })
      expect(server.connections).toHaveLength(3)
    })
  )

  it.live("reads an answer that ends with its connection", () =>
    Effect.gen(function* () {
      const server = yield* serve((request) => {
        request.socket.end("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end")
      })
      const egress = yield* egressOf()
      expect(bodyText(yield* egress.request(get(server.at())))).toBe("to the end")
    })
  )

  it.live.each([
    ["HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"],
    ["HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"],
    ["not http at all\r\n\r\n"],
    [""]
  ])("fails on an answer that is none: %j", ([answer = ""]) =>
    Effect.gen(function* () {
      const server = yield* serve((request) => request.socket.end(answer))
      expect((yield* failure(yield* egressOf(), get(server.at()))).reason).toBe("reset")
    })
  )

  it.live("sends again on a fresh connection when a kept one was closed without an answer", () =>
    Effect.gen(function* () {
      let requests = 0
      const server = yield* serve((request, response) => {
        if (++requests === 2) request.socket.destroy()
        else response.end("ok")
      })
      const egress = yield* egressOf()
      yield* egress.request(get(server.at()))
      expect(bodyText(yield* egress.request(get(server.at())))).toBe("ok")
      expect(requests).toBe(3)
      expect(server.connections).toHaveLength(2)
    })
  )

  it.live("does not send again on a connection that was fresh", () =>
    Effect.gen(function* () {
      const server = yield* serve((request) => request.socket.destroy())
      const error = yield* failure(yield* egressOf(), get(server.at()))
      expect(error.reason).toBe("reset")
      expect(server.connections).toHaveLength(1)
    })
  )
})

describe("egress to where it must not go", () => {
  it.live.each([
    ["http://hook.example/", "invalid_url"],
    ["https://user:secret@hook.example/", "invalid_url"],
    ["https://127.0.0.2/", "blocked"],
    ["https://[::ffff:10.0.0.1]/", "blocked"],
    ["https://localhost/", "blocked"]
  ] as const)("refuses %s as %s without resolving", ([url, reason]) =>
    Effect.gen(function* () {
      let resolved = 0
      const egress = yield* egressOf({
        resolve: async () => {
          resolved++
          return ["127.0.0.1"]
        }
      })
      expect((yield* failure(egress, get(url))).reason).toBe(reason)
      expect(resolved).toBe(0)
      expect(egress.refuse(url)).toBeTypeOf("string")
    })
  )

  it.live.each([[["10.0.0.1"]], [["8.8.8.8", "192.168.0.1"]], [["::1"]], [["64:ff9b::7f00:1"]]])(
    "refuses a name that resolves to %s, and does not tell the address",
    ([addresses = []]) =>
      Effect.gen(function* () {
        const error = yield* failure(yield* egressOf({ resolve: async () => addresses }), get("https://hook.example/"))
        expect(error.reason).toBe("blocked")
        expect(error.detail).toBe("the host resolves to a private or reserved address")
      })
  )

  it.live("connects to the address that it checked, whatever DNS says the next moment", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      let resolved = 0
      const egress = yield* egressOf({ resolve: async () => (resolved++ === 0 ? ["127.0.0.1"] : ["127.0.0.2"]) })
      const first = yield* egress.request(get(server.at()))
      expect(first.status).toBe(200)
      expect(resolved).toBe(1)
      expect(server.connections[0]?.localAddress).toBe("127.0.0.1")
      // A kept connection leads where it did before; a new one is checked anew.
      expect((yield* egress.request(get(server.at()))).status).toBe(200)
      server.connections[0]?.destroy()
      yield* server.closed(1)
      expect((yield* failure(egress, get(server.at()))).reason).toBe("blocked")
      expect(server.connections).toHaveLength(1)
    })
  )

  it.live.each([
    ["https://127.0.0.2/", "blocked"],
    ["https://inside.example/", "blocked"],
    ["http://hook.example/", "invalid_url"],
    ["https://user@hook.example/", "invalid_url"],
    ["https://:0/", "invalid_url"]
  ] as const)("does not follow a redirect to %s", ([location, reason]) =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => response.writeHead(302, { location }).end())
      const egress = yield* egressOf({
        resolve: async (host) => (host === "inside.example" ? ["10.0.0.1"] : ["127.0.0.1"])
      })
      expect((yield* failure(egress, get(server.at(), { maxRedirects: 3 }))).reason).toBe(reason)
    })
  )

  it.live.each(["POST", "PUT", "DELETE", "HEAD"] as const)("follows no redirect of a %s", (method) =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => response.writeHead(307, { location: "/two" }).end())
      const answer = yield* (yield* egressOf()).request({ ...get(server.at()), method, maxRedirects: 3 })
      expect(answer.status).toBe(307)
    })
  )

  it.live("follows redirects as far as told, and keeps credentials to their origin", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const server = yield* serve((request, response) => {
        seen.push(`${request.url} ${request.headers.authorization ?? "-"}`)
        if (request.url === "/one") response.writeHead(307, { location: "/two" }).end()
        else if (request.url === "/two") response.writeHead(302, { location: server.at("/end", "other.example") }).end()
        else response.end("end")
      })
      const egress = yield* egressOf()
      const request = get(server.at("/one"), { headers: { Authorization: "secret" } })
      expect((yield* egress.request(request)).status).toBe(307)
      expect((yield* egress.request({ ...request, maxRedirects: 1 })).status).toBe(302)
      seen.length = 0
      expect(bodyText(yield* egress.request({ ...request, maxRedirects: 2 }))).toBe("end")
      expect(seen).toStrictEqual(["/one secret", "/two secret", "/end -"])
    })
  )
})

describe("egress to a host with several addresses", () => {
  // Nothing listens on the others, which refuse at once.
  it.live.each([
    [["127.0.0.1", "127.0.0.2"]],
    [["127.0.0.2", "127.0.0.1"]],
    [["127.0.0.1", "127.0.0.2", "127.0.0.3"]],
    [["127.0.0.3", "127.0.0.1", "127.0.0.2"]],
    [["127.0.0.1", "::1"]],
    [["::1", "127.0.0.1"]]
  ])("waits more than a second for the one that answers: %s", ([addresses = []]) =>
    Effect.gen(function* () {
      const server = yield* serve()
      const { port } = yield* BusyListener.start(server.port)
      const egress = yield* egressOf({
        resolve: async () => addresses,
        rules: { permits: (address) => addresses.includes(address), localNames: false }
      })
      const url = `https://hook.example:${port}/`
      expect((yield* egress.request(get(url))).status).toBe(200)
      const { body: _, ...request } = get(url)
      expect((yield* egress.stream({ ...request, idleMs: 60_000 })).status).toBe(200)
    })
  )

  it.live("has every address checked before the first is tried", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const egress = yield* egressOf({ resolve: async () => ["127.0.0.1", "127.0.0.2"] })
      expect((yield* failure(egress, get(server.at()))).reason).toBe("blocked")
      expect(server.connections).toHaveLength(0)
    })
  )
})

describe("egress to a server that misbehaves", () => {
  it.live("refuses a longer answer, announced or not, and closes the connection", () =>
    Effect.gen(function* () {
      const server = yield* serve((request, response) => {
        if (request.url === "/announced") response.writeHead(200, { "content-length": 1_001 })
        response.end("x".repeat(1_001))
      })
      const egress = yield* egressOf()
      expect((yield* failure(egress, get(server.at("/announced")))).reason).toBe("too_large")
      yield* server.closed(1)
      expect((yield* failure(egress, get(server.at("/chunked")))).reason).toBe("too_large")
      yield* server.closed(2)
    })
  )

  it.live("cuts a longer answer where told, and uses the connection again when the rest is short", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => response.end("x".repeat(5_000)))
      // Only one connection is allowed, so the next request waits until the rest of the answer was read and dropped.
      const egress = yield* egressOf({ maxConnectionsPerDestination: 1 })
      for (let n = 0; n < 3; n++) {
        const { body } = yield* egress.request(get(server.at(), { truncate: { afterMs: 10_000 } }))
        expect(body).toHaveLength(1_000)
      }
      expect(server.connections).toHaveLength(1)
    })
  )

  it.live("ends an endless answer although it was cut", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => {
        const pour = (): void => {
          while (!response.destroyed && response.write("x".repeat(16_384)));
          if (!response.destroyed) response.once("drain", pour)
        }
        pour()
      })
      const { body } = yield* (yield* egressOf()).request(get(server.at(), { truncate: { afterMs: 10_000 } }))
      expect(body).toHaveLength(1_000)
      yield* server.closed(1)
    })
  )

  it.live.each(["/breaks-off", "/stalls", "/headers-only"])(
    "takes the status for the answer where the body may be cut: %s",
    ([path]) =>
      Effect.gen(function* () {
        const server = yield* serve((request, response) => {
          response.writeHead(200, { "content-length": 500 })
          if (request.url === "/headers-only") return response.flushHeaders()
          response.write("begun", () => {
            if (request.url === "/breaks-off") response.socket?.resetAndDestroy()
          })
        })
        const egress = yield* egressOf()
        const answer = yield* egress.request(get(server.at(path), { truncate: { afterMs: 10_000 }, timeoutMs: 500 }))
        expect(answer.status).toBe(200)
        expect(bodyText(answer)).toBe(path === "/headers-only" ? "" : "begun")
        yield* server.closed(1)
        expect(yield* failure(egress, get(server.at(path), { timeoutMs: 500 }))).toBeInstanceOf(EgressError)
      })
  )

  it.live.each(["/drips", "/stalls", "/headers-only"])(
    "does not wait for a body that never ends where the status decides: %s",
    ([path]) =>
      Effect.gen(function* () {
        const server = yield* serve((request, response) => {
          response.writeHead(200)
          response.flushHeaders()
          if (request.url === "/stalls") response.write("begun")
          if (request.url !== "/drips") return
          const drip = setInterval(() => response.write("x"), 5)
          response.once("close", () => clearInterval(drip))
        })
        const egress = yield* egressOf()
        // The time limit is longer than that of the test.
        const request = get(server.at(path), { truncate: { afterMs: 50 }, timeoutMs: 600_000 })
        expect((yield* egress.request(request)).status).toBe(200)
        yield* server.closed(1)
      })
  )

  it.live("keeps what came of the body in time, and the connection of a body that ends soon after", () =>
    Effect.gen(function* () {
      let late = (): void => undefined
      const server = yield* serve((request, response) => {
        if (request.url === "/next") return void response.end()
        response.write("begun")
        late = () => void response.end("y".repeat(20_000))
      })
      // Only one connection is allowed, so the next request waits until the rest of the answer was read and dropped.
      const egress = yield* egressOf({
        maxConnectionsPerDestination: 1,
        drains: { places: 1, bytes: 65_536, forMs: 600_000 }
      })
      const answer = yield* egress.request(get(server.at(), { truncate: { afterMs: 200 } }))
      expect(bodyText(answer)).toBe("begun")
      late()
      expect((yield* egress.request(get(server.at("/next")))).status).toBe(200)
      expect(server.connections).toHaveLength(1)
    })
  )

  it.live("drops the rest of only so many answers of one destination at once, and closes the others", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => void response.write("begun"))
      const egress = yield* egressOf({ drains: { places: 1, bytes: 65_536, forMs: 600_000 } })
      for (let n = 0; n < 3; n++) yield* egress.request(get(server.at(), { truncate: { afterMs: 1 } }))
      yield* server.closed(2)
      yield* server.closed(3)
      expect(server.connections[0]?.destroyed).toBe(false)
    })
  )

  it.live("gives up at the deadline on a server that sends a byte now and then, and closes", () =>
    Effect.gen(function* () {
      const server = yield* serve((_request, response) => {
        const drip = setInterval(() => response.write("x"), 10)
        response.once("close", () => clearInterval(drip))
      })
      const error = yield* failure(yield* egressOf(), get(server.at(), { timeoutMs: 150 }))
      expect(error.reason).toBe("timeout")
      yield* server.closed(1)
    })
  )

  it.live("counts resolution and the TLS handshake in the deadline", () =>
    Effect.gen(function* () {
      const slowNames = yield* egressOf({ resolve: () => new Promise(() => undefined) })
      expect((yield* failure(slowNames, get("https://hook.example/", { timeoutMs: 50 }))).reason).toBe("timeout")
      const silent = yield* listen()
      const error = yield* failure(yield* egressOf(), get(`https://hook.example:${silent.port}/`, { timeoutMs: 50 }))
      expect(error.reason).toBe("timeout")
    })
  )

  it.live("closes the connection of an interrupted request", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const server = yield* serve(() => Deferred.doneUnsafe(arrived, Effect.void))
      const egress = yield* egressOf()
      const fiber = yield* Effect.forkChild(egress.request(get(server.at())))
      yield* Deferred.await(arrived)
      yield* Fiber.interrupt(fiber)
      yield* server.closed(1)
    })
  )

  it.live("dies of a header that cannot be sent, there and then", () =>
    Effect.gen(function* () {
      const request = get("https://hook.example/", { headers: { Authorization: "a\nb" }, timeoutMs: 20 })
      const uncaught: Array<Error> = []
      const listener = (error: Error) => void uncaught.push(error)
      process.prependOnceListener("uncaughtException", listener)
      expect(Exit.hasDies(yield* Effect.exit((yield* egressOf()).request(request)))).toBe(true)
      yield* Effect.sleep("60 millis")
      process.off("uncaughtException", listener)
      expect(uncaught).toStrictEqual([])
    })
  )

  it.live("closes idle connections when its scope ends", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      yield* Effect.scoped(Effect.flatMap(egressOf(), (egress) => egress.request(get(server.at()))))
      yield* server.closed(1)
    })
  )

  it.live("tells apart a name, a port and a certificate that do not work", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      const nowhere = yield* egressOf({ resolve: () => Promise.reject(new Error("NXDOMAIN")) })
      expect((yield* failure(nowhere, get("https://hook.example/"))).reason).toBe("resolve")

      const egress = yield* egressOf()
      const closedPort = yield* Effect.scoped(Effect.map(serve(), ({ port }) => port))
      const refused = yield* failure(egress, get(`https://127.0.0.1:${closedPort}/`))
      expect(refused).toMatchObject({ reason: "connect", detail: "ECONNREFUSED" })

      const wrongName = yield* failure(egress, get(server.at("/", "third.example")))
      expect(wrongName).toMatchObject({ reason: "tls", detail: "ERR_TLS_CERT_ALTNAME_INVALID" })

      const past = { from: new Date(Date.now() - 2e9), to: new Date(Date.now() - 1e9) }
      const old = yield* serve(undefined, authority.issue(["hook.example"], past))
      expect(yield* failure(egress, get(old.at()))).toMatchObject({ reason: "tls", detail: "CERT_HAS_EXPIRED" })

      const stranger = yield* serve(undefined, TestCertificate.makeAuthority("Stranger").issue(["hook.example"]))
      expect((yield* failure(egress, get(stranger.at()))).reason).toBe("tls")
    })
  )

  it.live("fails at once above its bound of requests under way", () =>
    Effect.gen(function* () {
      const egress = yield* egressOf({ maxInFlight: 1, resolve: () => new Promise(() => undefined) })
      yield* Effect.forkChild(egress.request(get("https://hook.example/")), { startImmediately: true })
      expect((yield* failure(egress, get("https://hook.example/"))).reason).toBe("connect")
    })
  )
})

describe("the egress layer of a running service", () => {
  it.live("trusts the authorities of TARGET_CA_FILE besides the default roots", () =>
    Effect.gen(function* () {
      const server = yield* serve(undefined, authority.issue(["localhost"]))
      const caFile = join(yield* DataDirectory.make, "ca.pem")
      yield* Effect.promise(() => writeFile(caFile, `A comment\n${authority.cert}`))
      const ask = Effect.flatMap(Egress, (egress) => egress.request(get(server.at("/", "localhost"))))
      const answer = yield* Effect.provide(ask, NodeEgress.layer({ allowPrivate: true, caFile }))
      expect(answer.status).toBe(200)
      const error = yield* Effect.flip(Effect.provide(ask, NodeEgress.layer({ allowPrivate: true })))
      expect(error).toMatchObject({ reason: "tls" })
      const closed = yield* Effect.flip(Effect.provide(ask, NodeEgress.layer({ allowPrivate: false, caFile })))
      expect(closed).toMatchObject({ reason: "blocked" })
    })
  )

  it.live.each([
    ["missing.pem", undefined],
    ["empty.pem", "no certificate"],
    ["broken.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
  ])("names a TARGET_CA_FILE that cannot be used: %s", ([name, content]) =>
    Effect.gen(function* () {
      const caFile = join(yield* DataDirectory.make, name ?? "")
      if (content !== undefined) yield* Effect.promise(() => writeFile(caFile, content))
      const error = yield* Effect.flip(Effect.provide(Egress, NodeEgress.layer({ allowPrivate: false, caFile })))
      expect(error.message).toContain(`TARGET_CA_FILE ${caFile} cannot be used: `)
    })
  )
})
