import { describe, expect, it } from "@effect/vitest"
import * as ConnectAttempts from "../../../src/media/stream/ConnectAttempts.ts"
import * as ClientMessage from "../../../src/media/stream/dialect/ClientMessage.ts"
import * as SendQueue from "../../../src/media/stream/SendQueue.ts"
import * as SoundQueue from "../../../src/media/stream/playout/SoundQueue.ts"
import { hostile } from "../../protocol/rtp/RandomBytes.ts"

const sink = (capacity = Number.POSITIVE_INFINITY) => {
  const sent: Array<string> = []
  return {
    sent,
    takes: () => sent.length < capacity,
    send: (text: string) => sent.push(text) > 0,
    spell: ({ chunk, timestampMs, track }: { chunk: number; timestampMs: number; track: string }, sequence: number) =>
      `${sequence} ${track} ${chunk} ${timestampMs}`
  }
}

describe("What waits for a stream's server, guide/streams.md#a-slow-server", () => {
  it("is two seconds of each track, the newest, and everything else", () => {
    const queue = SendQueue.make()
    for (let at = 0; at < 5000; at += 20)
      for (const track of ["inbound", "outbound"] as const) queue.sound(track, at, "")
    queue.say((sequence) => `${sequence} mark`)
    const to = sink()
    queue.handOver(to, 0)
    expect(to.sent.length).toBe(201)
    expect(to.sent[0]).toBe("1 inbound 1 0")
    expect(to.sent.at(-1)).toBe("201 mark")
    expect(queue.droppedMs()).toBe(6000)
  })

  it("is handed over as far as the network takes it, in order, with one sequence", () => {
    const queue = SendQueue.make()
    for (let at = 0; at < 200; at += 20) queue.sound("inbound", at, "")
    const [some, rest] = [sink(3), sink()]
    queue.handOver(some, 0)
    queue.handOver(rest, 20)
    expect([...some.sent, ...rest.sent]).toEqual(
      Array.from({ length: 10 }, (_, i) => `${i + 1} inbound ${i + 1} ${i * 20}`)
    )
  })

  it("makes the server too slow when something has waited for ten seconds, and not when it catches up between", () => {
    const queue = SendQueue.make()
    queue.say(() => "x")
    queue.handOver(sink(0), 0)
    expect(queue.isTooSlow(9999)).toBe(false)
    expect(queue.isTooSlow(10_000)).toBe(true)
    queue.handOver(sink(), 9000)
    expect(queue.isTooSlow(20_000)).toBe(false)
  })
})

describe("The tries to connect a stream", () => {
  it("are three, with pauses, and fit into ten seconds whatever each takes", () => {
    for (const takesMs of [0, 100, 3000, 9000]) {
      let now = 0
      let count = 0
      let attempts: ConnectAttempts.ConnectAttempts | null = ConnectAttempts.first(now)
      while (attempts !== null) {
        count++
        now += Math.min(takesMs, ConnectAttempts.patienceMs(attempts, now))
        attempts = ConnectAttempts.failed(attempts, now)
        if (attempts?.nextAt === null || attempts === null) break
        now = attempts.nextAt
        attempts = ConnectAttempts.due(attempts, now)
      }
      expect([takesMs, count]).toEqual([takesMs, 3])
      expect(now).toBeLessThanOrEqual(ConnectAttempts.limits.withinMs)
    }
  })
})

describe("A message of a stream's server", () => {
  it("is read whatever it holds, and never throws", () => {
    expect(ClientMessage.read('{"event":"media","streamSid":"wrong","media":{"payload":"AAA="}}')).toEqual({
      type: "media",
      payload: "AAA="
    })
    expect(ClientMessage.read('{"event":"connected"}')).toEqual({ type: "other" })
    expect(ClientMessage.read('{"event":"media","media":{}}')).toEqual({ type: "invalid_media" })
    for (const text of [
      "",
      "null",
      "[]",
      "1",
      '"x"',
      "{}",
      '{"event":1}',
      '{"event":"mark","mark":{}}',
      '{"event":"mark"}'
    ])
      expect([text, ClientMessage.read(text).type]).toEqual([text, "malformed"])
    const seed = new TextEncoder().encode('{"event":"media","media":{"payload":"AAAA"}}')
    for (const bytes of hostile(500, 3, [seed])) ClientMessage.read(Buffer.from(bytes).toString())
    expect(ClientMessage.bytesOf("////")).toEqual(Buffer.from([255, 255, 255]))
    expect(ClientMessage.bytesOf("//8=")).toEqual(Buffer.from([255, 255]))
    expect(ClientMessage.bytesOf("a b!")).toBe(null)
    expect(ClientMessage.bytesOf("//8=\r\n")).toEqual(Buffer.from([255, 255]))
    expect(ClientMessage.bytesOf(" //\r\n// ")).toEqual(Buffer.from([255, 255, 255]))
  })
})

describe("Sound that waits as it came", () => {
  it("is decoded when it is taken, a packet whole, and forgotten with its beginnings", () => {
    let decodedPackets = 0
    const packets = SoundQueue.make({
      unit: null,
      samplesIn: (packet) => packet.length * 10,
      decode: (packet, out) => {
        decodedPackets++
        out.fill(packet[0] ?? 0, 0, packet.length * 10)
        return packet.length * 10
      },
      reset: () => undefined
    })
    packets.push(Uint8Array.of(1, 1))
    packets.push(Uint8Array.of(2, 2))
    expect([packets.length(), packets.octets(), decodedPackets]).toEqual([40, 4, 0])
    const out = new Int16Array(30)
    expect(packets.take(out, 0, 30)).toBe(30)
    expect([...out]).toEqual([...Array<number>(20).fill(1), ...Array<number>(10).fill(2)])
    packets.clear()
    expect([packets.length(), packets.octets(), packets.take(out, 0, 30)]).toEqual([0, 0, 0])
  })
})
