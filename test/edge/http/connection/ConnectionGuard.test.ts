import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import * as ClientError from "../../../../src/edge/http/connection/ClientError.ts"
import * as ConnectionGuard from "../../../../src/edge/http/connection/ConnectionGuard.ts"

const limits: ConnectionGuard.Limits = { connections: 100, atWork: 100, pipelined: 4, writeMs: 100, lingerMs: 100 }

type Serve = (request: IncomingMessage, response: ServerResponse) => void

const hello: Serve = (_request, response) => void response.end("hello")

/** A guarded server on a free port of the loopback. */
const guarded = (
  serve: Serve,
  options: Partial<ConnectionGuard.Limits> & { readonly proxy?: string; readonly headersMs?: number } = {}
) =>
  Effect.acquireRelease(
    Effect.callback<{
      readonly port: number
      readonly cut: ReadonlyArray<ConnectionGuard.Cut>
      readonly open: () => number
      readonly stop: () => void
    }>((resume) => {
      const cut: Array<ConnectionGuard.Cut> = []
      let open = 0
      const { headersMs = 60_000 } = options
      const server = createServer({
        keepAliveTimeout: 60_000,
        headersTimeout: headersMs,
        connectionsCheckingInterval: Math.min(1_000, headersMs)
      })
      ClientError.attach(server)
      server.on(
        "request",
        ConnectionGuard.attach(server, {
          limits: { ...limits, ...options },
          trusts: (address) => address.endsWith(options.proxy ?? "nobody"),
          watch: { opened: (count) => (open = count), cut: (reason) => cut.push(reason) },
          serve
        })
      )
      const stop = () => {
        server.close()
        server.closeAllConnections()
      }
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = address !== null && typeof address === "object" ? address.port : 0
        resume(Effect.succeed({ port, cut, open: () => open, stop }))
      })
    }),
    ({ stop }) => Effect.sync(stop)
  )

interface Client {
  readonly socket: Socket
  readonly closed: Effect.Effect<string>
  /** Completes when the bytes received so far match the pattern. */
  readonly heard: (pattern: RegExp) => Effect.Effect<void>
}

const client = (port: number, options: { readonly from?: string; readonly reads?: boolean } = {}) =>
  Effect.callback<Client>((resume) => {
    const { from = "127.0.0.1", reads = true } = options
    let text = ""
    const socket = connect({ port, host: "127.0.0.1", localAddress: from })
    const isClosed = new Promise<string>((done) => socket.once("close", () => done(text)))
    socket.on("error", () => {})
    if (reads) socket.on("data", (data: Buffer) => (text += data.toString("latin1")))
    else socket.pause()
    socket.once("connect", () =>
      resume(
        Effect.succeed({
          socket,
          closed: Effect.promise(() => isClosed),
          heard: (pattern) =>
            Effect.callback<void>((done) => {
              const look = () => pattern.test(text) && done(Effect.void)
              look()
              socket.on("data", look)
            })
        })
      )
    )
  })

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

/** Whether a new connection gets an answer. */
const answered = (port: number, from?: string) =>
  Effect.gen(function* () {
    const { closed, socket } = yield* client(port, from === undefined ? {} : { from })
    socket.end("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    return (yield* closed).startsWith("HTTP/1.1 200")
  })

/** Never answers a request. */
const silence: Serve = () => {}

/** Opens this many connections, each with a request, from one address after the other. */
const asking = (port: number, count: number, from: (n: number) => string = () => "127.0.0.1") =>
  Effect.gen(function* () {
    const made: Array<Client> = []
    for (let n = 0; n < count; n++) {
      const one = yield* client(port, { from: from(n) })
      one.socket.write(get)
      made.push(one)
    }
    return made
  })

const areOpen = (clients: ReadonlyArray<Client>) => clients.map(({ socket }) => !socket.destroyed)

describe("Connections of one address", () => {
  it.live("that are at work have at most half of what the others leave, so another address gets in", () =>
    Effect.gen(function* () {
      const served: Array<string | undefined> = []
      const { cut, port } = yield* guarded(
        (request, response) => {
          served.push(request.url)
          if (request.headers.connection === "close") response.end("hello")
        },
        { connections: 20 }
      )
      for (let n = 0; n < 11; n++) {
        yield* asking(port, 1)
        while (served.length === n) yield* Effect.sleep(1)
      }
      const late = yield* asking(port, 9)
      yield* Effect.forEach(late, ({ closed }) => closed)
      expect(cut).toEqual(Array.from({ length: 9 }, () => "no_room"))
      expect(yield* answered(port)).toBe(false)
      expect(yield* answered(port, "127.0.0.2")).toBe(true)
    }).pipe(Effect.scoped)
  )

  it.live("that rest give their places to others of it, the one that has rested longest first", () =>
    Effect.gen(function* () {
      const { cut, port } = yield* guarded(hello, { connections: 20 })
      const kept = yield* asking(port, 11)
      yield* Effect.forEach(kept, ({ heard }) => heard(/hello/))
      kept[0]?.socket.write(get)
      yield* kept[0]?.heard(/hello[^]*hello/) ?? Effect.void
      expect(yield* answered(port)).toBe(true)
      yield* kept[1]?.closed ?? Effect.void
      expect(areOpen(kept)).toEqual(kept.map((_, n) => n !== 1))
      expect(cut).toEqual(["replaced"])
    }).pipe(Effect.scoped)
  )

  it.live("give their place back when they close", () =>
    Effect.gen(function* () {
      const { open, port } = yield* guarded(hello, { connections: 2 })
      for (let n = 0; n < 10; n++) expect(yield* answered(port)).toBe(true)
      expect(open()).toBe(0)
    }).pipe(Effect.scoped)
  )

  it.live("of a trusted proxy may be all that there are", () =>
    Effect.gen(function* () {
      const { cut, port } = yield* guarded(hello, { connections: 20, proxy: "127.0.0.1" })
      const kept: Array<Client> = []
      for (let n = 0; n < 20; n++) kept.push(yield* client(port))
      for (const { socket } of kept) socket.write(get)
      yield* Effect.forEach(kept, ({ heard }) => heard(/hello/))
      expect(cut).toEqual([])
    }).pipe(Effect.scoped)
  )
})

describe("A full server", () => {
  it.live("takes one more for one that rests, of the address that has most of them", () =>
    Effect.gen(function* () {
      const { cut, open, port } = yield* guarded(hello, { connections: 20 })
      const many = yield* asking(port, 11)
      const others = yield* asking(port, 9, (n) => `127.0.1.${n + 1}`)
      yield* Effect.forEach([...many, ...others], ({ heard }) => heard(/hello/))
      expect(open()).toBe(20)
      expect(yield* answered(port, "127.0.0.2")).toBe(true)
      yield* many[0]?.closed ?? Effect.void
      expect(areOpen(many)).toEqual(many.map((_, n) => n > 0))
      expect(areOpen(others)).toEqual(others.map(() => true))
      expect(cut).toEqual(["replaced"])
    }).pipe(Effect.scoped)
  )

  it.live("takes one more when every address has one that asks for nothing", () =>
    Effect.gen(function* () {
      const { cut, port } = yield* guarded(hello, { connections: 20 })
      const kept: Array<Client> = []
      for (let n = 0; n < 20; n++) kept.push(yield* client(port, { from: `127.0.1.${n + 1}` }))
      for (let n = 0; n < 5; n++) expect(yield* answered(port, "127.0.0.2")).toBe(true)
      yield* kept[0]?.closed ?? Effect.void
      // Each new connection gave its own place back.
      expect(cut).toEqual(["replaced"])
    }).pipe(Effect.scoped)
  )

  it.live("counts a request that is not whole as resting, and takes none that it works for", () =>
    Effect.gen(function* () {
      const { cut, port } = yield* guarded(silence, { connections: 4 })
      const half = yield* client(port, { from: "127.0.1.1" })
      half.socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx")
      yield* asking(port, 3, (n) => `127.0.1.${n + 2}`)
      yield* Effect.sleep(50)
      const [late] = yield* asking(port, 1, () => "127.0.0.2")
      yield* half.closed
      yield* Effect.sleep(50)
      expect(late?.socket.destroyed).toBe(false)
      const [last] = yield* asking(port, 1, () => "127.0.0.3")
      yield* last?.closed ?? Effect.void
      expect(cut).toEqual(["replaced", "no_room"])
    }).pipe(Effect.scoped)
  )
})

describe("Connections at work", () => {
  it.live("of one address leave places for another's; the others of it are not read until one of them rests", () =>
    Effect.gen(function* () {
      const answers: Array<() => void> = []
      const { open, port } = yield* guarded(
        (request, response) => {
          if (request.headers.connection === "close") response.end("hello")
          else answers.push(() => response.end("hello"))
        },
        { atWork: 8 }
      )
      const kept = yield* asking(port, 20)
      while (answers.length < 5) yield* Effect.sleep(1)
      expect(yield* answered(port, "127.0.0.2")).toBe(true)
      yield* Effect.sleep(50)
      expect([answers.length, open()]).toEqual([5, 20])
      answers[0]?.()
      yield* Effect.raceAll(kept.map(({ heard }) => heard(/hello/)))
      while (answers.length < 6) yield* Effect.sleep(1)
      for (let n = 1; n < 20; n++) {
        while (answers.length <= n) yield* Effect.sleep(1)
        answers[n]?.()
      }
      yield* Effect.forEach(kept, ({ heard }) => heard(/hello/))
      // They rest, and may send further requests.
      kept[0]?.socket.write(get)
      while (answers.length < 21) yield* Effect.sleep(1)
      answers[20]?.()
      yield* kept[0]?.heard(/hello[^]*hello/) ?? Effect.void
    }).pipe(Effect.scoped)
  )

  it.live("that ask for nothing give their turns to others of it soon", () =>
    Effect.gen(function* () {
      const { port } = yield* guarded(hello, { atWork: 4 })
      for (let n = 0; n < 3; n++) yield* client(port)
      expect(yield* answered(port)).toBe(true)
    }).pipe(Effect.scoped)
  )

  it.live("whose bodies are late give their turns to others of it soon, and go on when the rest has come", () =>
    Effect.gen(function* () {
      const { port } = yield* guarded(
        (request, response) => void request.resume().once("end", () => response.end("hello")),
        { atWork: 4 }
      )
      const late: Array<Client> = []
      for (let n = 0; n < 3; n++) {
        const one = yield* client(port)
        one.socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{")
        late.push(one)
      }
      expect(yield* answered(port)).toBe(true)
      for (const { heard, socket } of late) {
        socket.write(`}${get}`)
        yield* heard(/hello[^]*hello/)
      }
    }).pipe(Effect.scoped)
  )

  it.live("keep others of it waiting, which are told that it is not their fault", () =>
    Effect.gen(function* () {
      const { port } = yield* guarded(silence, { atWork: 2, headersMs: 500 })
      const atWork = yield* asking(port, 2)
      const [late] = yield* asking(port, 1)
      expect(yield* late?.closed ?? Effect.void).toMatch(/^HTTP\/1.1 503 [^]*"service_unavailable"/)
      expect(areOpen(atWork)).toEqual([true, true])
    }).pipe(Effect.scoped)
  )
})

describe("A client that", () => {
  it.live("never reads its answer is closed", () =>
    Effect.gen(function* () {
      const { cut, port } = yield* guarded((_request, response) => void response.end(Buffer.alloc(32 * 1024 * 1024)))
      const { closed, socket } = yield* client(port, { reads: false })
      socket.write(get)
      // A paused socket does not notice that it was closed.
      while (cut.length === 0) yield* Effect.sleep(10)
      socket.resume()
      yield* closed
      expect(cut).toEqual(["not_read"])
    }).pipe(Effect.scoped)
  )

  it.live("reads its answer in its own time, and then asks again, is not", () =>
    Effect.gen(function* () {
      const { cut, port } = yield* guarded(hello)
      const { heard, socket } = yield* client(port)
      socket.write(get)
      yield* heard(/hello/)
      yield* Effect.sleep(250)
      socket.write(get)
      yield* heard(/hello[^]*hello/)
      expect(cut).toEqual([])
    }).pipe(Effect.scoped)
  )

  it.live("goes on with a body behind its answer is closed soon", () =>
    Effect.gen(function* () {
      const { cut, port } = yield* guarded((_request, response) => {
        response.writeHead(401)
        response.end("no")
      })
      const { closed, heard, socket } = yield* client(port)
      socket.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      const drip = setInterval(() => socket.write("1\r\nx\r\n"), 20)
      yield* heard(/401/)
      yield* closed
      clearInterval(drip)
      expect(cut).toEqual(["goes_on"])
    }).pipe(Effect.scoped)
  )

  it.live("ends its body behind its answer keeps its connection", () =>
    Effect.gen(function* () {
      const { cut, port } = yield* guarded((request, response) => {
        response.writeHead(401)
        response.end("no")
        request.resume()
      })
      const { heard, socket } = yield* client(port)
      socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n")
      yield* heard(/401/)
      socket.write("{}")
      yield* Effect.sleep(250)
      socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
      yield* heard(/401[^]*401/)
      expect(cut).toEqual([])
    }).pipe(Effect.scoped)
  )
})

describe("Requests on one connection", () => {
  /** A server that begins requests and lets the test end them. */
  const held = (options: Partial<ConnectionGuard.Limits> = {}) =>
    Effect.gen(function* () {
      const started: Array<string> = []
      const ends: Array<() => void> = []
      const server = yield* guarded((request, response) => {
        const path = request.url ?? ""
        started.push(path)
        ends.push(() => response.end(path))
      }, options)
      const count = (wanted: number) =>
        Effect.gen(function* () {
          while (started.length < wanted) yield* Effect.sleep(5)
        })
      return { ...server, started, ends, count }
    })
  const path = (name: string) => `GET ${name} HTTP/1.1\r\nHost: a\r\n\r\n`

  it.live("are served one after the other, in their order", () =>
    Effect.gen(function* () {
      const { started, count, ends, port } = yield* held()
      const { heard, socket } = yield* client(port)
      socket.write(path("/1") + path("/2") + path("/3"))
      yield* count(1)
      yield* Effect.sleep(50)
      expect(started).toEqual(["/1"])
      for (const wanted of [2, 3, 3]) {
        ends.shift()?.()
        yield* count(wanted)
      }
      yield* heard(/\/1[^]*\/2[^]*\/3/)
      expect(started).toEqual(["/1", "/2", "/3"])
    }).pipe(Effect.scoped)
  )

  it.live("beyond a few that wait are refused with the connection, and never begun", () =>
    Effect.gen(function* () {
      const { started, count, cut, ends, port } = yield* held({ pipelined: 2 })
      const { closed, socket } = yield* client(port)
      socket.write(Array.from({ length: 5 }, (_, n) => path(`/${n}`)).join(""))
      for (let n = 1; n <= 3; n++) {
        yield* count(n)
        ends.shift()?.()
      }
      expect(yield* closed).toMatch(/200 OK[^]*200 OK[^]*200 OK[^]*503 Service Unavailable[^]*service_unavailable/)
      expect(started).toEqual(["/0", "/1", "/2"])
      expect(cut).toEqual(["pipelined"])
    }).pipe(Effect.scoped)
  )

  it.live("that go on coming behind the refused one end the connection at once", () =>
    Effect.gen(function* () {
      const { started, cut, ends, open, port } = yield* held({ pipelined: 2 })
      const { closed, socket } = yield* client(port)
      socket.write(Array.from({ length: 500 }, (_, n) => path(`/${n}`)).join(""))
      yield* closed
      while (open() > 0) yield* Effect.sleep(5)
      ends.shift()?.()
      yield* Effect.sleep(50)
      // Not even the first request has begun, because it came with the others.
      expect(started).toEqual([])
      expect(cut).toEqual(["pipelined"])
    }).pipe(Effect.scoped)
  )

  it.live("of a client that has gone are not begun", () =>
    Effect.gen(function* () {
      const { started, count, ends, open, port } = yield* held()
      const { socket } = yield* client(port)
      socket.write(path("/1") + path("/2") + path("/3"))
      yield* count(1)
      socket.destroy()
      while (open() > 0) yield* Effect.sleep(5)
      ends.shift()?.()
      yield* Effect.sleep(50)
      expect(started).toEqual(["/1"])
    }).pipe(Effect.scoped)
  )
})
