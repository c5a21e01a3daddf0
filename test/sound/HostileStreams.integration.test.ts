import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import type { WebSocket } from "ws"
import * as Measure from "./Measure.ts"
import type * as Phone from "./Phone.ts"
import * as StreamServer from "./StreamServer.ts"
import * as Timeline from "./Timeline.ts"
import * as World from "./World.ts"

/**
 * Stream servers that are hostile or broken, on real sockets, all at once: their actions affect only their own stream
 * (guide/streams.md#what-the-server-sends). Another call's audio continues in the same media thread.
 */
const voice = { hz: 400, dbfs: -14 } satisfies Phone.Voice
const agent = { hz: 900, dbfs: -18 } satisfies Phone.Voice
const attackMs = 14_000
/** A frame that is later than this comes when the next one is due. */
const lateMs = 20
const mostGrowth = 250 * 1024 * 1024

/** RFC 6455 section 4.2.2: the end of the handshake. */
const accept = (request: IncomingMessage, socket: Duplex): void => {
  const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
  const answer = createHash("sha1").update(key).digest("base64")
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${answer}\r\n\r\n`
  )
}

/** The head of a text frame, section 5.2. */
const head = (length: number): Buffer => {
  const bytes = Buffer.alloc(10)
  bytes.set([0x81, 127])
  bytes.writeBigUInt64BE(BigInt(length), 2)
  return bytes
}

/** Writes as fast as the socket takes it, until the connection is gone. */
const pour = (socket: Duplex, piece: Buffer): void => {
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once("drain", more)
  }
  socket.resume()
  more()
}

const repeat = (socket: Duplex | WebSocket, ms: number, act: () => void): void => {
  const timer = setInterval(act, ms)
  socket.once("close", () => clearInterval(timer))
}

const raw = (upgrade: (request: IncomingMessage, socket: Duplex) => void): World.Server => ({ type: "raw", upgrade })
const afterUpgrade = (act: (socket: Duplex) => void): World.Server =>
  raw((request, socket) => {
    accept(request, socket)
    act(socket)
  })
const webSocket = (connected: (socket: WebSocket) => void): World.Server => ({ type: "webSocket", connected })
const media = (octets: number): string =>
  JSON.stringify({ event: "media", media: { payload: Buffer.alloc(octets, 0x55).toString("base64") } })

/**
 * The servers: name, behaviour, and the reason with which the failure of the stream is reported to its call; null: the
 * stream may continue, or fail as too slow a reader.
 */
const hostile: ReadonlyArray<readonly [what: string, server: World.Server, told: RegExp | null]> = [
  ["reads nothing", webSocket((socket) => socket.pause()), null],
  [
    "sends what is no message",
    webSocket((socket) => repeat(socket, 5, () => socket.send(`{"event": ${"[".repeat(5000)}`))),
    /^protocol_error/
  ],
  [
    "sends bytes that are no frames",
    afterUpgrade((socket) => repeat(socket, 50, () => socket.write(Buffer.alloc(1000, 0xff)))),
    /^protocol_error/
  ],
  [
    "sends a frame of 100 MB",
    afterUpgrade((socket) => {
      socket.write(head(100_000_000))
      pour(socket, Buffer.alloc(65_536, 0x20))
    }),
    /^protocol_error/
  ],
  [
    "sends 100 MB in small frames that belong together",
    webSocket((socket) => {
      for (let n = 0; n < 1000; n++) socket.send(Buffer.alloc(100_000, 0x20), { fin: false, binary: false })
    }),
    /^protocol_error/
  ],
  [
    "drips a frame, a byte at a time",
    afterUpgrade((socket) => {
      socket.write(head(900_000))
      repeat(socket, 10, () => socket.write(Buffer.of(0x20)))
    }),
    null
  ],
  [
    "sends thousands of marks, and clears",
    webSocket((socket) => {
      socket.send(media(8000 * 60))
      repeat(socket, 20, () => {
        for (let n = 0; n < 500; n++) socket.send(JSON.stringify({ event: "mark", mark: { name: "m".repeat(200) } }))
        socket.send(JSON.stringify({ event: "clear" }))
      })
    }),
    null
  ],
  [
    "sends sound without end, as fast as it is taken",
    webSocket((socket) => repeat(socket, 10, () => socket.bufferedAmount < 4_000_000 && socket.send(media(600_000)))),
    null
  ],
  [
    "sends pings without end",
    webSocket((socket) =>
      repeat(socket, 10, () => {
        for (let n = 0; n < 200; n++) socket.ping(Buffer.alloc(100))
      })
    ),
    null
  ],
  [
    "hangs up in the middle of a frame",
    afterUpgrade((socket) => {
      socket.write(head(10_000))
      socket.end(Buffer.alloc(100, 0x20))
    }),
    /^connection_failed/
  ],
  ["never answers the handshake", raw((_, socket) => socket.resume()), /^connection_failed/],
  [
    "redirects to where nobody may be called",
    raw((_, socket) =>
      socket.end("HTTP/1.1 302 Found\r\nLocation: wss://169.254.169.254/\r\nContent-Length: 0\r\n\r\n")
    ),
    /^connection_failed/
  ],
  [
    "answers with a page",
    raw((_, socket) => pour(socket, Buffer.from("HTTP/1.1 200 OK\r\n\r\n<html>"))),
    /^connection_failed/
  ]
]

let world: World.World
beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world?.stop())

const streaming = (line: World.Line, url: string) =>
  world.act(line, "streaming_start", { stream_url: url, stream_bidirectional_mode: "rtp", stream_track: "both_tracks" })

describe("Servers of streams that mean harm", () => {
  it(
    "harm no other call: its stream talks and listens in time, and the memory of the service stays bounded",
    { timeout: 90_000 },
    async () => {
      const good = StreamServer.make("PCMU", 8000)
      const line = await world.callIn(world.plan("PCMU", voice))
      await streaming(line, world.listen("good", good.server))
      await world.event("stream.started", line.id)
      await World.sleep(1000)
      const before = await world.metric("process_resident_memory_bytes")
      const attacked = await Promise.all(
        hostile.map(async ([what, server, told]) => {
          const victim = await world.callIn(world.plan("PCMU", voice))
          await streaming(victim, world.listen(what.replaceAll(/\W/g, "-"), server))
          return { what, told, victim }
        })
      )
      let most = 0
      for (let second = 0; second < attackMs / 1000; second++) {
        good.say(agent, 1000)
        await World.sleep(1000)
        most = Math.max(most, await world.metric("process_resident_memory_bytes"))
      }
      good.mark("end")
      await good.marked("end")
      for (const { told, victim, what } of attacked) {
        const failed = world.told.find(
          ({ data, event_type: type }) => type === "stream.failed" && data.call_id === victim.id
        )
        expect([what, failed?.data["failure_reason"] ?? ""]).toEqual([
          what,
          expect.stringMatching(told ?? /^(connection_failed)?$/)
        ])
        // The call continues, whatever the outcome of its stream.
        expect([what, (await world.ask("GET", `/v1/calls/${victim.id}`)).status]).toEqual([what, "answered"])
        await world.hangUp(victim)
      }
      await world.hangUp(line)

      expect(most - before).toBeLessThan(mostGrowth)
      const packets = await world.phones.heard(line.number)
      const late = Timeline.lateness(packets).toSorted((one, other) => one - other)
      expect(late.length).toBeGreaterThan(attackMs / 20)
      // Nine frames in ten are in time, whatever else runs on this machine.
      expect(late[Math.ceil(0.9 * late.length)]).toBeLessThan(lateMs)
      const stood = await world.stood(line)
      const said = Measure.span(await world.heard(line), agent)
      expect(said.dbfs).closeTo(agent.dbfs, 1)
      const inbound = Measure.span(Timeline.part(good.sound("inbound"), 500), voice)
      expect(inbound.gapMs).toBeLessThanOrEqual(40 + stood)
      expect(inbound.toMs - inbound.fromMs).toBeGreaterThan(attackMs - 500)
    }
  )
})

describe("A stream", () => {
  it("to where nobody may be called is refused, and one to a host that was denied meanwhile fails", async () => {
    const line = await world.callIn(world.plan("PCMU", voice))
    const start = (stream_url: string) =>
      world.send("POST", `/v1/calls/${line.id}/actions/streaming_start`, { stream_url })
    for (const url of [
      "ws://127.0.0.1/",
      "wss://a:b@127.0.0.1/",
      "https://127.0.0.1/",
      "wss://0.0.0.0/",
      "wss://224.0.0.1/"
    ])
      expect([url, (await start(url)).status]).toEqual([url, 400])
    await world.operator("targets", "deny", "127.0.0.7", "--reason", "test")
    await World.sleep(1500)
    expect((await start("wss://127.0.0.7/")).status).toBe(400)
    await world.hangUp(line)
  })
})
