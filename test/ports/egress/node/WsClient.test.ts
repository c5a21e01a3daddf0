import { createHash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo, Socket } from "node:net"
import { Worker } from "node:worker_threads"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { type WebSocket, WebSocketServer } from "ws"
import * as ReadTurns from "../../../../src/ports/egress/node/ReadTurns.ts"
import * as WsClient from "../../../../src/ports/egress/node/WsClient.ts"
import type { Pinned } from "../../../../src/ports/egress/Pinned.ts"
import type { Closed, Link, Options } from "../../../../src/ports/egress/WebSocketClient.ts"
import * as BusyListener from "../../../support/network/BusyListener.ts"
import { eventually } from "../../../support/network/HttpsReceiver.ts"
import * as TestCertificate from "../../../support/network/TestCertificate.ts"
import { certificate, egressOf, listen } from "./Egresses.ts"
import type { Asked, Turns } from "./WsTurns.fixture.ts"

const options: Options = {
  holder: "tenant",
  headers: {},
  protocols: [],
  handshakeMs: 60_000,
  maxMessageBytes: 65_536,
  maxBufferedBytes: 1_000_000,
  pingMs: 1_000,
  silenceMs: 60_000
}

/** A `wss` server; `upgrade`, when given, replaces its handshake. */
const serve = (
  connected: (socket: WebSocket, request: IncomingMessage) => void = () => undefined,
  other: {
    readonly upgrade?: (socket: Socket, request: IncomingMessage) => void
    readonly certificate?: TestCertificate.TestCertificate
  } = {}
) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ readonly at: (path?: string, host?: string) => string; readonly stop: () => void }>((done) => {
          const sockets = new Set<Socket>()
          const server = createServer(other.certificate ?? certificate, (_request, response) =>
            response.writeHead(404).end()
          )
          server.on("secureConnection", (socket) => sockets.add(socket.on("error", () => undefined)))
          server.on("tlsClientError", () => undefined)
          if (other.upgrade === undefined)
            new WebSocketServer({ server }).on("connection", (socket, request) => {
              socket.on("error", () => undefined)
              connected(socket, request)
            })
          else server.on("upgrade", (request, socket) => other.upgrade?.(socket as Socket, request))
          server.listen(0, "127.0.0.1", () => {
            const { port } = server.address() as AddressInfo
            const stop = () => {
              server.close()
              for (const socket of sockets) socket.destroy()
            }
            done({ at: (path = "/", host = "hook.example") => `wss://${host}:${port}${path}`, stop })
          })
        })
    ),
    ({ stop }) => Effect.sync(stop)
  )

interface Told {
  readonly messages: Array<string | Uint8Array>
  opened: boolean
  closed: Closed | null
  readonly link: Link
}

/** Opens a link and records its events; `opened` is called as soon as it is open. */
const connect = (pinned: Pinned, more: Partial<Options> = {}, opened: (link: Link) => void = () => undefined): Told => {
  let count = 0
  const link = WsClient.make(ReadTurns.make())(
    pinned,
    { ...options, ...more },
    {
      onOpen: () => {
        told.opened = true
        opened(link)
      },
      onMessage: (message) => told.messages.push(message),
      onClose: (closed) => {
        expect(++count).toBe(1)
        told.closed = closed
      }
    }
  )
  const told: Told = { messages: [], opened: false, closed: null, link }
  return told
}

const pin = (url: string) => Effect.flatMap(egressOf(), (egress) => egress.pin(url, 60_000))
const end = (told: Told) =>
  eventually(
    () => told.closed !== null,
    () => told.closed
  )

describe("a long message", () => {
  it.live("is read before what comes after it, though both came at once", () =>
    Effect.gen(function* () {
      const long = "x".repeat(40_000)
      const server = yield* serve((socket) => {
        socket.send(long)
        socket.send("clear")
      })
      const pinned = yield* pin(server.at())
      const order: Array<string> = []
      let closed = false
      const link = WsClient.make(ReadTurns.make())(pinned, options, {
        onOpen: () => undefined,
        onMessage: (message) => order.push(String(message)),
        onLongText: (bytes) => {
          let left = 20
          return () => {
            if (--left > 0) return true
            order.push(`long ${bytes.length}`)
            return false
          }
        },
        onClose: () => void (closed = true)
      })
      yield* eventually(
        () => order.length === 2,
        () => order
      )
      expect(order).toEqual(["long 40000", "clear"])
      link.close()
      yield* eventually(
        () => closed,
        () => closed
      )
    }).pipe(Effect.scoped)
  )
})

describe("a WebSocket's address", () => {
  it.live.each([
    ["wss://127.0.0.2/", "blocked"],
    ["wss://[::ffff:10.0.0.1]/", "blocked"],
    ["wss://localhost/", "blocked"],
    ["wss://inside.example/", "blocked"],
    ["wss://user:secret@hook.example/", "invalid_url"],
    ["ws://hook.example/", "invalid_url"],
    ["https://hook.example/", "invalid_url"],
    ["wss://nowhere.example/", "resolve"],
    ["wss://slow.example/", "timeout"]
  ] as const)("is not given for %s", ([url, reason]) =>
    Effect.gen(function* () {
      const resolve = async (host: string) => {
        if (host === "slow.example") return new Promise<never>(() => undefined)
        if (host === "nowhere.example") throw new Error("NXDOMAIN")
        return host === "inside.example" ? ["8.8.8.8", "10.0.0.1"] : ["127.0.0.1"]
      }
      const egress = yield* egressOf({ resolve })
      expect((yield* Effect.flip(egress.pin(url, reason === "timeout" ? 50 : 60_000))).reason).toBe(reason)
    })
  )

  it.live("is that which was checked, whatever DNS says the next moment", () =>
    Effect.gen(function* () {
      const server = yield* serve((socket) => socket.send("here"))
      let resolved = 0
      const egress = yield* egressOf({ resolve: async () => (resolved++ === 0 ? ["127.0.0.1"] : ["127.0.0.2"]) })
      const pinned = yield* egress.pin(server.at("/a?b"), 60_000)
      expect(pinned).toMatchObject({ addresses: ["127.0.0.1"], host: "hook.example", path: "/a?b", secure: true })
      const told = connect(pinned)
      yield* eventually(
        () => told.messages.length === 1,
        () => undefined
      )
      expect(resolved).toBe(1)
      told.link.close()
      yield* end(told)
    })
  )

  it.live.each([[["127.0.0.1", "127.0.0.2"]], [["127.0.0.2", "127.0.0.1", "::1"]]])(
    "may be one of several, and is waited for longer than a second: %s",
    ([addresses = []]) =>
      Effect.gen(function* () {
        const server = yield* serve((socket) => socket.send("here"))
        const pinned = yield* pin(server.at())
        const { port } = yield* BusyListener.start(pinned.port)
        const told = connect({ ...pinned, port, addresses }, { handshakeMs: 4_000 })
        yield* eventually(
          () => told.messages.length === 1,
          () => undefined
        )
        told.link.close()
        yield* end(told)
      })
  )

  it.live("crosses to another thread, which connects there", () =>
    Effect.gen(function* () {
      const server = yield* serve((socket) =>
        socket.on("message", (data: Buffer) => socket.send(`heard: ${data.toString()}`))
      )
      const pinned = yield* pin(server.at())
      const worker = yield* Effect.acquireRelease(
        Effect.sync(() => new Worker(new URL("./WsThread.fixture.ts", import.meta.url))),
        (worker) => Effect.promise(() => worker.terminate())
      )
      const told: Array<unknown> = []
      worker.on("message", (message) => told.push(message))
      worker.postMessage({ pinned, options }, [])
      yield* eventually(
        () => told.length === 2,
        () => undefined
      )
      expect(told).toStrictEqual(["heard: hello from a thread", { reason: "closed", code: 1000, detail: "" }])
    })
  )
})

describe("a WebSocket", () => {
  it.live("carries text and bytes both ways, with the headers and the protocol that were asked for", () =>
    Effect.gen(function* () {
      let asked: IncomingMessage | undefined
      const server = yield* serve((socket, request) => {
        asked = request
        socket.on("message", (data: Buffer, isBinary) => socket.send(data, { binary: isBinary }))
      })
      const told = connect(
        yield* pin(server.at("/media?x=1")),
        { headers: { Authorization: "Bearer t" }, protocols: ["v1"] },
        (link) => {
          expect(link.send("grüezi")).toBe(true)
          expect(link.send(Uint8Array.of(1, 2, 255))).toBe(true)
        }
      )
      yield* eventually(
        () => told.messages.length === 2,
        () => undefined
      )
      const [text, bytes] = told.messages
      expect(text).toBe("grüezi")
      expect([...(bytes as Uint8Array)]).toStrictEqual([1, 2, 255])
      expect(asked?.headers).toMatchObject({ authorization: "Bearer t", "sec-websocket-protocol": "v1" })
      expect(asked?.url).toBe("/media?x=1")
      expect(asked?.headers["sec-websocket-extensions"]).toBeUndefined()
      told.link.close(4000, "enough")
      expect(yield* end(told)).toStrictEqual({ reason: "closed", code: 4000, detail: "enough" })
      expect(told.link.send("late")).toBe(false)
    })
  )

  it.live("tells the other side's close frame", () =>
    Effect.gen(function* () {
      const server = yield* serve((socket) => socket.close(1001, "going away"))
      expect(yield* end(connect(yield* pin(server.at())))).toStrictEqual({
        reason: "closed",
        code: 1001,
        detail: "going away"
      })
    })
  )

  it.live("refuses to send more than its bound while the other side reads nothing", () =>
    Effect.gen(function* () {
      const server = yield* serve((socket) => socket.pause())
      const told = connect(yield* pin(server.at()))
      yield* eventually(
        () => told.opened,
        () => undefined
      )
      const message = new Uint8Array(50_000)
      let sent = 0
      while (sent < 10_000 && told.link.send(message)) sent++
      expect(told.link.bufferedBytes()).toBeLessThanOrEqual(options.maxBufferedBytes + 1_000)
      expect(sent).toBeLessThan(10_000)
      expect(told.closed).toBeNull()
    })
  )

  it.live("may be closed before it is open", () =>
    Effect.gen(function* () {
      const { port } = yield* listen()
      const told = connect(yield* pin(`wss://hook.example:${port}/`))
      told.link.close()
      expect((yield* end(told))?.reason).toBe("closed")
      expect(told.opened).toBe(false)
    })
  )

  it.live("tells of a header that cannot be sent, and throws nothing", () =>
    Effect.gen(function* () {
      const told = connect(yield* pin("wss://hook.example/"), { headers: { Authorization: "a\nb" } })
      expect(told.closed).toBeNull()
      expect((yield* end(told))?.reason).toBe("protocol")
    })
  )
})

describe("a WebSocket to a server that misbehaves", () => {
  const hundredMegabytes = Buffer.alloc(10)
  hundredMegabytes.set([0x82, 127])
  hundredMegabytes.writeBigUInt64BE(100_000_000n, 2)

  it.live("gives up a handshake that never completes, in TLS and after it, dripping or not", () =>
    Effect.gen(function* () {
      const { port } = yield* listen()
      const inTls = connect(yield* pin(`wss://hook.example:${port}/`), { handshakeMs: 100 })
      expect(yield* end(inTls)).toMatchObject({ reason: "timeout" })
      const dripping = yield* serve(undefined, {
        upgrade: (socket) => {
          socket.write("HTTP/1.1 101 Switching Protocols\r\nX: ")
          const timer = setInterval(() => socket.write("x"), 10)
          socket.once("close", () => clearInterval(timer))
        }
      })
      expect(yield* end(connect(yield* pin(dripping.at()), { handshakeMs: 150 }))).toMatchObject({ reason: "timeout" })
    })
  )

  it.live("closes at the head of a frame of 100 MB", () =>
    Effect.gen(function* () {
      let cut = false
      const server = yield* serve((socket, { socket: raw }) => {
        raw.write(hundredMegabytes)
        raw.write(Buffer.alloc(1_000))
        socket.on("close", () => (cut = true))
      })
      const told = connect(yield* pin(server.at()))
      expect(yield* end(told)).toMatchObject({ reason: "too_large" })
      expect(told.messages).toHaveLength(0)
      yield* eventually(
        () => cut,
        () => undefined
      )
    })
  )

  it.live("closes on a message that grows too long in small frames", () =>
    Effect.gen(function* () {
      const server = yield* serve((socket) => {
        for (let n = 0; n < 100; n++) socket.send(Buffer.alloc(1_000), { fin: false })
      })
      expect(yield* end(connect(yield* pin(server.at())))).toMatchObject({ reason: "too_large" })
    })
  )

  it.live("closes when the other side falls silent, and stays open while it answers pings", () =>
    Effect.gen(function* () {
      const answering = yield* serve()
      const kept = connect(yield* pin(answering.at()), { pingMs: 30, silenceMs: 150 })
      const silent = yield* serve((socket) => socket.pause())
      const lost = connect(yield* pin(silent.at()), { pingMs: 30, silenceMs: 150 })
      expect(yield* end(lost)).toMatchObject({ reason: "timeout", detail: "the other side is silent" })
      yield* Effect.sleep(300)
      expect(kept.opened).toBe(true)
      expect(kept.closed).toBeNull()
    })
  )

  it.live("stays open when its own thread stood still for longer than a silence may last", () =>
    Effect.gen(function* () {
      let pings = 0
      const answering = yield* serve((socket) => socket.on("ping", () => pings++))
      const kept = connect(yield* pin(answering.at()), { pingMs: 100, silenceMs: 225 })
      const pinged = (count: number) =>
        eventually(
          () => pings > count || kept.closed !== null,
          () => `${pings} pings`
        )
      yield* pinged(0)
      // The whole thread waits, as that of a process that was stopped.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
      yield* pinged(pings + 1)
      expect(kept.closed).toBeNull()
    })
  )

  it.live("cuts off a side that does not answer its close frame", () =>
    Effect.gen(function* () {
      const server = yield* serve((socket) => socket.pause())
      const told = connect(yield* pin(server.at()), {}, (link) => link.close())
      expect(yield* end(told)).toStrictEqual({
        reason: "closed",
        code: null,
        detail: "the other side did not answer the close frame"
      })
    })
  )

  it.live("is closed by a close frame, also of a server that does not hang up behind it", () =>
    Effect.gen(function* () {
      const server = yield* serve((socket, { socket: raw }) => {
        socket.pause()
        raw.write(Buffer.of(0x88, 2, 0x0f, 0xa1))
      })
      expect(yield* end(connect(yield* pin(server.at())))).toMatchObject({ reason: "closed", code: 4001 })
    })
  )

  it.live.each<readonly [string, string, Closed["reason"]]>([
    ["redirects", "HTTP/1.1 302 Found\r\nLocation: wss://127.0.0.2/\r\nContent-Length: 0\r\n\r\n", "refused"],
    ["has no such place", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "refused"],
    [
      "accepts another key",
      "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
      "protocol"
    ],
    ["speaks no HTTP", "hello\r\n\r\n", "reset"],
    ["hangs up", "", "reset"]
  ])("fails when the server %s", ([, answer, reason]) =>
    Effect.gen(function* () {
      const server = yield* serve(undefined, { upgrade: (socket) => socket.end(answer) })
      expect(yield* end(connect(yield* pin(server.at())))).toMatchObject({ reason, code: null })
    })
  )

  it.live("fails on frames that are none, and on a connection that is cut", () =>
    Effect.gen(function* () {
      const wrong = yield* serve((_socket, { socket: raw }) => raw.write(Buffer.of(0xff, 0xff, 0xff)))
      expect(yield* end(connect(yield* pin(wrong.at())))).toMatchObject({ reason: "protocol" })
      const cut = yield* serve((socket) => socket.terminate())
      expect(yield* end(connect(yield* pin(cut.at())))).toMatchObject({ reason: "reset" })
    })
  )

  it.live("tells a certificate and a port that do not work", () =>
    Effect.gen(function* () {
      const server = yield* serve()
      expect(yield* end(connect(yield* pin(server.at("/", "third.example"))))).toMatchObject({ reason: "tls" })
      const stranger = TestCertificate.makeAuthority("Stranger").issue(["hook.example"])
      const untrusted = yield* serve(undefined, { certificate: stranger })
      expect(yield* end(connect(yield* pin(untrusted.at())))).toMatchObject({ reason: "tls" })
      const closedPort = yield* Effect.scoped(Effect.map(listen(), ({ port }) => port))
      const told = connect(yield* pin(`wss://hook.example:${closedPort}/`))
      expect(yield* end(told)).toMatchObject({ reason: "connect", detail: "ECONNREFUSED" })
    })
  )
})

/** A thread with hostile servers of one tenant: `WsTurns.fixture.ts`. */
const threadWith = (pinned: Pinned, count: number, more: Partial<Options> = {}) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => new Worker(new URL("./WsTurns.fixture.ts", import.meta.url))),
      (worker) => Effect.promise(() => worker.terminate())
    ),
    (worker) => {
      const ask = (message: Asked | "start" | "report") => worker.postMessage(message, [])
      const report = (): Promise<Turns> => {
        const answer = new Promise<Turns>((done) => worker.once("message", done))
        ask("report")
        return answer
      }
      const until = Effect.fnUntraced(function* (isSo: (turns: Turns) => boolean) {
        for (;;) {
          const turns = yield* Effect.promise(report)
          if (isSo(turns)) return turns
          yield* Effect.sleep(50)
        }
      })
      ask({ pinned, options: { ...options, ...more }, count })
      return { until, start: () => ask("start") }
    }
  )

/** Writes without end what the connection takes. */
const flood = (socket: Socket, octets: Buffer): void => {
  const write = (): void => {
    while (!socket.destroyed && socket.write(octets)) continue
  }
  socket.on("drain", write).on("error", () => undefined)
  write()
}

/** Frames of a server: a text in fragments, and frames of control. */
const frame = (first: number, payload: Uint8Array): Buffer => {
  const head = Buffer.alloc(payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10)
  head[0] = first
  head[1] = payload.length < 126 ? payload.length : payload.length < 65_536 ? 126 : 127
  if (head.length === 4) head.writeUInt16BE(payload.length, 2)
  if (head.length === 10) head.writeBigUInt64BE(BigInt(payload.length), 2)
  return Buffer.concat([head, payload])
}
const none = new Uint8Array(0)
/** The longest time that packets of calls may wait for a turn; the machine may be slow. */
const mostMs = 15
const few = 5

describe("a WebSocket to a server that floods its thread", () => {
  const interim = "HTTP/1.1 102 Processing\r\n\r\n"
  it.live("gives up a handshake of endless interim answers, and one with an endless head", () =>
    Effect.gen(function* () {
      for (const answer of [
        interim.repeat(10_000),
        `HTTP/1.1 101 Switching Protocols\r\n${"X: y\r\n".repeat(30_000)}`
      ]) {
        const server = yield* serve(undefined, { upgrade: (socket) => flood(socket, Buffer.from(answer)) })
        const { start, until } = yield* threadWith(yield* pin(server.at()), few)
        start()
        const { closed, longestMs, octets } = yield* until((turns) => turns.closed.length === few)
        expect(closed.map(({ reason }) => reason)).toStrictEqual(Array.from({ length: few }, () => "protocol"))
        expect(octets).toBeLessThan(few * 64 * 1024)
        expect(longestMs).toBeLessThan(mostMs * 4)
      }
    })
  )

  it.live("accepts a few interim answers", () =>
    Effect.gen(function* () {
      const server = yield* serve(undefined, {
        upgrade: (socket, request) => {
          const accept = createHash("sha1")
            .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
            .digest("base64")
          socket.write(
            `${interim.repeat(3)}HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`
          )
          socket.write(frame(0x81, Buffer.from("here")))
        }
      })
      const told = connect(yield* pin(server.at()))
      yield* eventually(
        () => told.messages.length === 1,
        () => told.closed
      )
    })
  )

  it.live.each<readonly [string, Buffer]>([
    [
      "messages of a thousand empty fragments",
      Buffer.concat([frame(0x01, none), ...Array.from({ length: 1_000 }, () => frame(0x00, none)), frame(0x80, none)])
    ],
    ["empty messages", frame(0x81, none)],
    ["pings", frame(0x89, Buffer.from("x"))],
    ["pongs", frame(0x8a, none)],
    ["long messages", frame(0x82, Buffer.alloc(933_000))]
  ])("holds its thread for no longer than a portion by %s", ([, octets]) =>
    Effect.gen(function* () {
      const many = Buffer.concat(Array.from({ length: Math.ceil(65_536 / octets.length) }, () => octets))
      const server = yield* serve((_socket, { socket: raw }) => flood(raw, many))
      const { start, until } = yield* threadWith(yield* pin(server.at()), few, { maxMessageBytes: 1_048_576 })
      yield* until(({ open }) => open === few)
      start()
      const { closed, longestMs } = yield* until(
        (turns) => turns.octets > few * (octets.length > 65_536 ? 1_000_000 : 8_000) || turns.closed.length > 0
      )
      expect(closed).toStrictEqual([])
      expect(longestMs).toBeLessThan(mostMs)
    })
  )

  it.live("gives up on a message of too many fragments", () =>
    Effect.gen(function* () {
      const octets = Buffer.concat([frame(0x01, none), ...Array.from({ length: 2_000 }, () => frame(0x00, none))])
      const server = yield* serve((_socket, { socket: raw }) => flood(raw, octets))
      expect(yield* end(connect(yield* pin(server.at())))).toMatchObject({ reason: "protocol" })
    })
  )
})
