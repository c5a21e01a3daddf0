import { describe, expect, it } from "@effect/vitest"
import * as FadingRepetition from "../../../../src/protocol/audio/codec/FadingRepetition.ts"
import * as JitterBuffer from "../../../../src/protocol/rtp/playout/JitterBuffer.ts"
import type { PayloadDecoder } from "../../../../src/protocol/rtp/playout/PayloadDecoder.ts"
import type { RtpPacket } from "../../../../src/protocol/rtp/RtpPacket.ts"
import { random } from "../RandomBytes.ts"

/** A codec of plain samples, 16 bits each, at 8 kHz. */
const linear: PayloadDecoder = {
  duration: (_, start, end) => (end - start) >> 1,
  decode: (payload, out) => {
    const { length } = payload
    for (let i = 0; i < length; i += 2) out[i >> 1] = ((payload[i] ?? 0) << 8) | (payload[i + 1] ?? 0)
    return length >> 1
  },
  conceal: FadingRepetition.make(),
  skip: () => undefined,
  reset: () => undefined
}

/** Samples as big-endian octets, with others before and after them. */
const octets = (samples: Int16Array): Uint8Array => {
  const bytes = new Uint8Array(samples.length * 2 + 4).fill(0x55)
  const view = new DataView(bytes.buffer)
  for (const [i, sample] of samples.entries()) view.setInt16(3 + 2 * i, sample)
  return bytes
}

interface Change extends Partial<Pick<RtpPacket, "ssrc" | "sequenceNumber" | "timestamp">> {
  readonly samples?: Int16Array
}

/** A packet whose samples identify their place on the timeline: sample value = index of the packet, from 1. */
const packet = (n: number, { samples = new Int16Array(160).fill(1000 + n), ...change }: Change = {}): RtpPacket => ({
  payloadType: 96,
  marker: false,
  ssrc: 1,
  sequenceNumber: n & 0xffff,
  timestamp: (n * 160) >>> 0,
  bytes: octets(samples),
  payloadStart: 3,
  payloadEnd: 3 + 2 * samples.length,
  ...change
})

interface Arrival {
  readonly at: number
  readonly packet: RtpPacket
}

/**
 * Plays arrivals against a clock of 20 ms; returns the kind of each frame: its packet's number, `c`oncealed or `-`
 * idle.
 */
const play = (buffer: JitterBuffer.JitterBuffer, arrivals: ReadonlyArray<Arrival>, frames: number, from = 0) => {
  const waiting = [...arrivals].sort((a, b) => a.at - b.at)
  const heard: Array<number | "c" | "-"> = []
  const out = new Int16Array(160)
  for (let frame = 0; frame < frames; frame++) {
    const now = from + frame * 20 + 10
    while (waiting[0] !== undefined && waiting[0].at <= now) {
      const next = waiting.shift()
      if (next !== undefined) buffer.push(next.packet, linear, next.at)
    }
    const pulled = buffer.pull(out, now)
    heard.push(pulled === "audio" ? (out[159] ?? 0) - 1000 : pulled === "concealed" ? "c" : "-")
  }
  return heard
}
const steady = (from: number, to: number, start = 0): Array<Arrival> =>
  Array.from({ length: to - from }, (_, i) => ({ at: start + i * 20, packet: packet(from + i) }))

describe("Jitter buffer", () => {
  it("plays a steady stream whole and in order, 40 ms behind", () => {
    const buffer = JitterBuffer.make()
    expect(play(buffer, steady(0, 6), 7)).toStrictEqual(["-", 0, 1, 2, 3, 4, 5])
    expect(buffer.counters.concealed).toBe(0)
  })

  it("puts reordered packets right and plays duplicates once", () => {
    const arrivals = steady(0, 8).map((arrival, i) => ({ ...arrival, at: i === 3 ? 85 : arrival.at }))
    const buffer = JitterBuffer.make()
    const heard = play(buffer, [...arrivals, ...arrivals.map((a) => ({ ...a, at: a.at + 25 }))], 9)
    expect(heard).toStrictEqual(["-", 0, 1, 2, 3, 4, 5, 6, 7])
    expect(buffer.counters.duplicate).toBe(8)
    expect(buffer.counters.late).toBe(0)
  })

  it("conceals a lost packet in its place", () => {
    const buffer = JitterBuffer.make()
    const arrivals = steady(0, 8).filter(({ packet }) => packet.sequenceNumber !== 3)
    expect(play(buffer, arrivals, 9)).toStrictEqual(["-", 0, 1, 2, "c", 4, 5, 6, 7])
  })

  it("fades a concealment out within 60 ms and is idle after 200 ms", () => {
    const buffer = JitterBuffer.make()
    buffer.push(packet(0), linear, 0)
    buffer.push(packet(1), linear, 0)
    const out = new Int16Array(160)
    const levels: Array<number> = []
    const kinds: Array<string> = []
    for (let i = 0; i < 14; i++) {
      kinds.push(buffer.pull(out, i * 20))
      levels.push(Math.max(...out))
    }
    expect(kinds.slice(0, 3)).toStrictEqual(["audio", "audio", "concealed"])
    expect(levels[2] ?? 0).toBeGreaterThan(levels[3] ?? 0)
    expect(levels[5]).toBe(0)
    expect(kinds.slice(11)).toStrictEqual(["concealed", "idle", "idle"])
  })

  it("grows by what came late, and loses nothing of it", () => {
    const buffer = JitterBuffer.make()
    // From packet 5 on every packet comes 60 ms later.
    const arrivals = steady(0, 20).map(({ at, packet }, i) => ({ at: i < 5 ? at : at + 60, packet }))
    const heard = play(buffer, arrivals, 24)
    expect(heard.filter((frame) => typeof frame === "number")).toStrictEqual(Array.from({ length: 20 }, (_, i) => i))
    expect(buffer.counters.late).toBe(0)
  })

  it("pays a gap from what was already concealed", () => {
    const buffer = JitterBuffer.make()
    // 2 to 4 are lost while the buffer is empty; 5 comes at its time.
    const arrivals = steady(0, 12).filter(({ packet }) => packet.sequenceNumber < 2 || packet.sequenceNumber > 4)
    const heard = play(buffer, arrivals, 13)
    expect(heard).toStrictEqual(["-", 0, 1, "c", "c", "c", 5, 6, 7, 8, 9, 10, 11])
  })

  it("grows for packets that come behind their turn while others wait", () => {
    const buffer = JitterBuffer.make()
    // Every fourth packet takes 70 ms more than the others.
    const arrivals = steady(0, 400).map(({ at, packet }, i) => ({ at: i % 4 === 3 ? at + 70 : at, packet }))
    const heard = play(buffer, arrivals, 400)
    expect(buffer.counters.late).toBeLessThan(6)
    expect(heard.slice(60, 300)).not.toContain("c")
  })

  it("shrinks again, a frame for every window, when the network is calm", () => {
    const buffer = JitterBuffer.make()
    const arrivals = steady(0, 1500).map(({ at, packet }, i) => ({
      at: i >= 50 && i < 56 ? 50 * 20 + 120 : at,
      packet
    }))
    play(buffer, arrivals.slice(0, 100), 60)
    const high = buffer.depthMs()
    play(buffer, arrivals.slice(100), 1300, 60 * 20 + 20 * 40)
    expect(high).toBeGreaterThanOrEqual(100)
    expect(buffer.depthMs()).toBeLessThanOrEqual(60)
    expect(buffer.counters.removed).toBeGreaterThan(0)
  })

  it("cuts a burst behind a stall to the wanted delay", () => {
    const buffer = JitterBuffer.make()
    const arrivals = steady(0, 60).map(({ at, packet }, i) => ({ at: i < 5 ? at : 59 * 20, packet }))
    play(buffer, arrivals, 63)
    expect(buffer.depthMs()).toBeLessThanOrEqual(40)
  })

  it.each([[0.1], [-0.1]])("follows a sender whose clock is %f percent off", (percent) => {
    const buffer = JitterBuffer.make()
    const arrivals = steady(0, 6000).map(({ packet }, i) => ({ at: i * 20 * (1 + percent / 100), packet }))
    const heard = play(buffer, arrivals, 5900)
    // 0.1 % of two minutes are six frames.
    expect(buffer.counters.concealed + buffer.counters.removed).toBeLessThanOrEqual(12)
    expect(buffer.depthMs()).toBeLessThanOrEqual(80)
    expect(heard.filter((frame) => typeof frame === "number").length).toBeGreaterThan(5880)
  })

  it("follows another source after two packets in a row, once the first is silent", () => {
    const buffer = JitterBuffer.make()
    play(buffer, steady(0, 10), 11)
    const other = (n: number) => packet(n, { ssrc: 2, sequenceNumber: 500 + n, timestamp: 90_000 + n * 160 })
    expect(buffer.push(other(1), linear, 200)).toBe("doubtful")
    expect(buffer.push(packet(10), linear, 201)).toBe("queued")
    expect(buffer.push(other(2), linear, 220)).toBe("doubtful")
    expect(buffer.push(other(3), linear, 240)).toBe("doubtful")
    expect(buffer.push(other(4), linear, 270)).toBe("queued")
    expect(buffer.push(packet(11), linear, 280)).toBe("doubtful")
  })

  it("does not follow packets of another source that are not in a row, however long the first is silent", () => {
    const buffer = JitterBuffer.make()
    play(buffer, steady(0, 5), 8)
    const others = Array.from({ length: 20 }, (_, i) => ({
      at: 300 + i * 20,
      packet: packet(i, { ssrc: 2, sequenceNumber: 7 * i })
    }))
    expect(play(buffer, others, 40, 300).filter((heard) => typeof heard === "number")).toEqual([])
    expect(buffer.counters.doubtful).toBe(20)
  })

  it("full of packets, refuses one that is farther in the future, and gives up the farthest for one that is nearer", () => {
    const buffer = JitterBuffer.make({ ...JitterBuffer.defaults, maxPackets: 3, initialDelayMs: 200 })
    const push = (n: number) => buffer.push(packet(n), linear, 0)
    for (const n of [2, 3, 6]) expect(push(n)).toBe("queued")
    expect(push(8)).toBe("overflow")
    expect(push(4)).toBe("queued")
    expect(buffer.counters).toMatchObject({ queued: 4, overflow: 2 })
    expect(play(buffer, [], 3, 400)).toEqual([2, 3, 4])
  })

  it("does not follow one packet far from the timeline, but two", () => {
    const buffer = JitterBuffer.make()
    play(buffer, steady(0, 10), 10)
    const far = (n: number) => packet(n, { timestamp: (0x8000_0000 + n * 160) >>> 0 })
    expect(buffer.push(far(40), linear, 200)).toBe("doubtful")
    expect(buffer.push(packet(10), linear, 201)).toBe("queued")
    expect(buffer.push(far(41), linear, 220)).toBe("doubtful")
    expect(buffer.push(far(42), linear, 240)).toBe("queued")
    expect(play(buffer, [{ at: 260, packet: far(43) }], 3, 250)).toStrictEqual([42, 43, "c"])
  })

  it("wraps sequence numbers and timestamps without a seam", () => {
    const buffer = JitterBuffer.make()
    const arrivals = Array.from({ length: 20 }, (_, i) => ({
      at: i * 20,
      packet: packet(i, { sequenceNumber: (65_530 + i) & 0xffff, timestamp: (0xffff_fb00 + i * 160) >>> 0 })
    }))
    expect(play(buffer, arrivals, 21)).toStrictEqual(["-", ...Array.from({ length: 20 }, (_, i) => i)])
  })

  it.each([80, 240, 320, 400])("plays packets of %i samples without a gap", (length) => {
    const buffer = JitterBuffer.make()
    const count = 40
    const arrivals = Array.from({ length: count }, (_, i) => ({
      at: (i * length) / 8,
      packet: packet(i, {
        timestamp: i * length,
        samples: Int16Array.from({ length }, (_, k) => i * length + k + 1)
      })
    }))
    const out = new Int16Array(160)
    let expected = 1
    let short = false
    for (let now = 0, next = 0; now < (count * length) / 8 - 60; now += 20) {
      while (next < count && (arrivals[next]?.at ?? 0) <= now) {
        const arrival = arrivals[next++]
        if (arrival !== undefined) buffer.push(arrival.packet, linear, now)
      }
      const pulled = buffer.pull(out, now)
      if (pulled === "idle") continue
      // A frame may be shorter only at an underrun, and none ever skips.
      if (pulled === "audio" && !short) expect(out[159]).toBe(expected + 159)
      else if (pulled === "audio") expect(out[159] ?? 0).toBeLessThanOrEqual(expected + 159)
      short = pulled === "concealed"
      expected = pulled === "audio" ? (out[159] ?? 0) + 1 : expected + 160
    }
    expect(expected).toBeGreaterThan(1)
    expect(buffer.counters.concealed).toBeLessThanOrEqual(2)
  })

  it("is bounded: noise of packets neither throws nor grows", () => {
    const next = random(5)
    const buffer = JitterBuffer.make()
    const out = new Int16Array(160)
    for (let i = 0; i < 20_000; i++) {
      const wild = next() < 0.1
      buffer.push(
        packet(0, {
          ssrc: wild ? Math.floor(next() * 4) : 1,
          sequenceNumber: Math.floor(next() * 65_536),
          timestamp: Math.floor(next() * (wild ? 2 ** 32 : 8000)),
          samples: new Int16Array(Math.floor(next() * 1500))
        }),
        linear,
        i
      )
      if (i % 20 === 0) buffer.pull(out, i)
      expect(buffer.depthMs()).toBeLessThanOrEqual(2000)
    }
  })

  it("keeps the voice under 2 % loss and 30 ms of random jitter", () => {
    const next = random(9)
    const buffer = JitterBuffer.make()
    const arrivals = steady(0, 3000)
      .map(({ at, packet }) => ({ at: at + next() * 30, packet }))
      .filter(() => next() > 0.02)
    const heard = play(buffer, arrivals, 3000)
    const concealed = heard.filter((frame) => frame === "c").length
    expect(concealed).toBeLessThan(90)
    expect(buffer.counters.late).toBeLessThan(10)
    const numbers = heard.filter((frame) => typeof frame === "number")
    expect(numbers).toStrictEqual([...numbers].sort((a, b) => a - b))
  })
})
