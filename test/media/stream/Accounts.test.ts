import { describe, expect, it } from "@effect/vitest"
import { withoutPackets } from "../../../src/media/FarEnd.ts"
import type { MediaEvent } from "../../../src/ports/media/MediaMessage.ts"
import type { Options } from "../../../src/ports/media/StreamMessages.ts"
import * as Mix from "../../../src/media/mix/Mix.ts"
import * as Taps from "../../../src/media/mix/Tap.ts"
import * as Common from "../../../src/media/stream/dialect/Common.ts"
import * as FileQueue from "../../../src/media/stream/playout/FileQueue.ts"
import * as ReadBudget from "../../../src/media/stream/ReadBudget.ts"
import * as FairShare from "../../../src/domain/fair/FairShare.ts"
import * as MediaStream from "../../../src/media/stream/MediaStream.ts"
import * as FakeSocket from "./FakeSocket.ts"
import * as StreamBench from "./StreamBench.ts"

const wallMs = 1_700_000_000_000
const clockMs = 10_000

/** One leg without a far end, whose rounds do not run; its streams share `octets` of room. */
const bench = (octets = 1_000_000) => {
  const sockets = FakeSocket.make((connection) => connection)
  const common = {
    ...Common.make({ open: sockets.open, wallClock: () => wallMs }),
    capacity: FairShare.counted({ capacity: octets })
  }
  const mix = Mix.make()
  const taps = Taps.make({ clock: () => 0, onDefect: (error) => expect.fail(String(error)) }, () => undefined)
  const far = {
    ...withoutPackets,
    rate: () => 8000 as const,
    ready: () => true,
    say: () => false,
    hear: () => undefined,
    press: () => false,
    pressesTones: () => false,
    close: () => undefined
  }
  const events: Array<MediaEvent> = []
  /** A stream that is connected, and its server. */
  const connect = (change: Partial<Options> = {}, id = "one") => {
    const start = StreamBench.start(change, id)
    const stream = MediaStream.make(start, { far, mix, taps }, common, {
      clock: () => clockMs,
      ask: () => undefined,
      emit: (event) => void events.push(event),
      onDefect: (error) => expect.fail(String(error)),
      over: () => undefined
    })
    stream.answer({ type: "stream_reached", id: start.id, pinned: StreamBench.pinned })
    const server = sockets.connections.at(-1)
    expect.assert(server !== undefined)
    server.accept()
    const say = (message: object) => server.say(JSON.stringify(message))
    const got = (event: string) =>
      server.received.map((text) => JSON.parse(text)).filter((message) => message.event === event)
    return { stream, server, say, got }
  }
  return { common, taps, mix, events, connect }
}

const broken = { reason: "connect", code: null, detail: "ECONNRESET" } as const
const media = (octets: number) => StreamBench.mediaOf(new Uint8Array(octets).fill(0x20))

describe("What a stream takes of what others share", () => {
  it("is room for each octet that waits, given back as it is heard, cleared, or left by its end", () => {
    const { common, connect, mix } = bench()
    const { server, say } = connect()
    say(media(8000))
    expect(common.capacity.used()).toBe(8000)
    mix.next(8000, clockMs + 20)
    expect(common.capacity.used()).toBeLessThan(8000)
    say({ event: "clear" })
    expect(common.capacity.used()).toBe(0)
    say(media(4000))
    server.end(broken)
    expect(common.capacity.used()).toBe(0)
  })

  it("is room that its other streams do not have", () => {
    const { connect } = bench(16_000)
    const [one, other] = [connect({}, "one"), connect({}, "two")]
    one.say(media(15_000))
    other.say(media(2000))
    other.say(StreamBench.markOf("lost"))
    expect(other.got("error").map(({ payload }) => payload.code)).toEqual([100_005])
    expect(other.got("mark").map(({ mark }) => mark)).toEqual([{ name: "lost", cleared: true }])
  })

  it("is a tap of its leg, which it leaves however it ends", () => {
    const { connect, taps } = bench()
    const ends: ReadonlyArray<(one: ReturnType<typeof connect>) => void> = [
      ({ stream }) => stream.stop(),
      ({ server }) => server.end({ reason: "closed", code: 1000, detail: "" }),
      ({ server }) => server.end(broken),
      ({ server }) => Array.from({ length: 100 }, () => server.say("{"))
    ]
    for (const end of ends) {
      const one = connect()
      expect(taps.isEmpty()).toBe(false)
      end(one)
      expect(taps.isEmpty()).toBe(true)
    }
  })

  it("is time to read, all of which its tenant has again when its last stream has ended", () => {
    const { connect } = bench()
    const most = ReadBudget.limits.frames
    for (const end of ["stopped", "failed"] as const) {
      const flooding = connect()
      for (let i = 1; i < most; i++) flooding.say({ event: "other" })
      expect(flooding.server.isPaused).toBe(false)
      flooding.say({ event: "other" })
      expect(flooding.server.isPaused).toBe(true)
      if (end === "stopped") flooding.stream.stop()
      else flooding.server.end(broken)
    }
    const next = connect()
    for (let i = 1; i < most; i++) next.say({ event: "other" })
    expect(next.server.isPaused).toBe(false)
  })
})

describe("A digit that a stream tells of", () => {
  it("carries the time at which it was pressed, not that at which it is told", () => {
    const { connect } = bench()
    const { got, stream } = connect()
    stream.digit("5", clockMs - 150)
    expect(got("dtmf").map(({ dtmf, occurred_at }) => [dtmf.digit, Date.parse(occurred_at)])).toEqual([
      ["5", wallMs - 150]
    ])
  })
})

describe("A mark behind files that a stream's server has sent", () => {
  /** A queue of files with room for `octets` at once, which records their outcomes in order. */
  const files = (octets: number) => {
    const told: Array<string> = []
    const queue = FileQueue.make({
      decode: (file) => void told.push(`decode ${file}`),
      push: () => undefined,
      lost: () => void told.push("lost"),
      mark: (name, isLossy) => void told.push(isLossy ? `${name} lossy` : name),
      hasCapacity: (more) => queue.octets() + more <= octets
    })
    return { queue, told }
  }

  it("tells of one that found no room, and the next does not", () => {
    const { queue, told } = files(10)
    expect([queue.file(new Uint8Array(10)), queue.file(new Uint8Array(10)), queue.file(new Uint8Array(1))]).toEqual([
      true,
      true,
      false
    ])
    expect([queue.mark("one"), queue.mark("same")]).toEqual([[], []])
    queue.decoded(1, new Int16Array(4), true, 0)
    expect(queue.file(new Uint8Array(1))).toBe(true)
    queue.mark("two")
    queue.decoded(2, null, true, 0)
    queue.decoded(3, new Int16Array(4), true, 0)
    expect(told).toEqual(["decode 1", "decode 2", "lost", "one lossy", "same lossy", "decode 3", "two"])
  })
})
