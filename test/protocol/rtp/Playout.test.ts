import { createHash } from "node:crypto"
import { describe, expect, it } from "@effect/vitest"
import * as Codecs from "../../../src/protocol/audio/codec/Codecs.ts"
import * as FadingRepetition from "../../../src/protocol/audio/codec/FadingRepetition.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Click from "../../media/mix/Click.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import * as JitterBuffer from "../../../src/protocol/rtp/playout/JitterBuffer.ts"
import type { Loss, PayloadDecoder } from "../../../src/protocol/rtp/playout/PayloadDecoder.ts"
import type { RtpPacket } from "../../../src/protocol/rtp/RtpPacket.ts"
import { random } from "./RandomBytes.ts"

const packet = (n: number, payload: Uint8Array, change: Partial<RtpPacket> = {}): RtpPacket => ({
  payloadType: 96,
  marker: false,
  ssrc: 1,
  sequenceNumber: n & 0xffff,
  timestamp: (n * 160) >>> 0,
  bytes: payload,
  payloadStart: 0,
  payloadEnd: payload.length,
  ...change
})

/** A codec of 160 clock units a packet at any rate, which decodes to its first octet, and records its calls. */
const recorder = (samplesPerUnit = 1) => {
  const log: Array<string> = []
  let resets = 0
  const decoder: PayloadDecoder = {
    duration: () => 160,
    decode: (payload, out) => {
      log.push(`decode ${payload[0]}`)
      out.fill(payload[0] ?? 0, 0, 160 * samplesPerUnit)
      return 160 * samplesPerUnit
    },
    conceal: (out, { following, framesBefore, from, last }: Loss) => {
      log.push(`conceal ${framesBefore}${following === null ? "" : ` before ${following[0]}`}`)
      expect(last.length).toBe(out.length)
      out.fill(-1, from)
      return 1
    },
    skip: (units) => void log.push(`skip ${units}`),
    reset: () => void resets++
  }
  return { decoder, log, resets: () => resets }
}

const one = (n: number) => packet(n, Uint8Array.of(n))

describe("Playout of payloads", () => {
  it.each([
    ["late by 30 ms", 30],
    ["late by 105 ms", 105],
    ["late by 190 ms", 190],
    ["so late that what waits is cut", 600]
  ])("has no step where sound that came %s goes on, at whatever place in its period", (_, lateMs) => {
    const { clockRate, decoder, encoder, frameOctets, sampleRate } = Codecs.table.L16
    const buffer = JitterBuffer.make({ ...JitterBuffer.defaults, clockRate })
    const [coder, codec] = [encoder(null), decoder()]
    const tone = Tone.sine(440, -12, 3000, sampleRate)
    const length = sampleRate / 50
    const packets = Array.from({ length: 150 }, (_, n) => {
      const payload = new Uint8Array(frameOctets)
      coder.encode(tone.subarray(n * length, (n + 1) * length), payload, 0)
      return packet(n, payload, { timestamp: n * length })
    })
    const sound = Array.from({ length: 150 }, (_, round) => {
      packets.forEach((one, n) => {
        const at = n < 40 ? n : Math.max(n, 40 + lateMs / 20)
        if (Math.ceil(at) === round) buffer.push(one, codec, at * 20)
      })
      const out = new Int16Array(length)
      buffer.pull(out, round * 20 + 5)
      return out
    })
    const heard = Int16Array.from(sound.slice(10).flatMap((frame) => [...frame]))
    expect(Goertzel.level(heard.subarray(-length * 10), 440, sampleRate)).toBeCloseTo(-12, 0)
    if (lateMs < 200) expect(buffer.counters.concealed).toBeGreaterThan(0)
    else expect(buffer.counters.removed).toBeGreaterThan(5)
    // A sixth of it would be the height of a step: -50 dBFS.
    if (lateMs < 200) expect(Click.largest(heard)).toBeLessThan(6 * 104)
    else {
      // After a pause the stream begins anew, without a fade.
      const starts = sound.findLastIndex((frame) => frame.every((sample) => sample === 0)) + 1
      expect(Click.largest(Int16Array.from(sound.slice(starts).flatMap((frame) => [...frame])))).toBeLessThan(6 * 104)
    }
  })

  it("gives the same sound of G.711 under the same loss, jitter and changes of law as ever", () => {
    const next = random(77)
    const buffer = JitterBuffer.make()
    const laws = { PCMU: Codecs.table.PCMU.decoder(), PCMA: Codecs.table.PCMA.decoder() }
    const arrivals = Array.from({ length: 2000 }, (_, n) => {
      const payload = Uint8Array.from({ length: 160 }, () => Math.floor(next() * 256))
      const isLost = next() < 0.05
      return {
        at: n * 20 + next() * (n < 500 ? 150 : 20),
        isLost,
        law: n % 400 < 300 ? laws.PCMU : laws.PCMA,
        packet: packet(n, payload)
      }
    })
    const waiting = arrivals.filter(({ isLost }) => !isLost).sort((a, b) => a.at - b.at)
    const hash = createHash("sha256")
    const out = new Int16Array(160)
    for (let now = 10; now < 40_000; now += 20) {
      for (let due = waiting[0]; due !== undefined && due.at <= now; due = waiting[0]) {
        buffer.push(due.packet, due.law, due.at)
        waiting.shift()
      }
      buffer.pull(out, now)
      hash.update(new Uint8Array(out.buffer))
    }
    expect(hash.digest("hex")).toBe("e9fe467da6cc2998e56ce517bdf0d46cf045539b412b3ab445b5c6d337160ffb")
  })

  it("decodes each packet once, in order, when its turn has come, and lets the codec know what was lost", () => {
    const { decoder, log } = recorder()
    const buffer = JitterBuffer.make()
    const out = new Int16Array(160)
    for (const n of [2, 1, 5, 7]) buffer.push(one(n), decoder, 0)
    expect(log).toEqual([])
    const heard = Array.from({ length: 7 }, (_, i) => {
      buffer.pull(out, i * 20)
      return out[80]
    })
    expect(log).toEqual([
      "decode 1",
      "decode 2",
      // 3 and 4 are missing; the second of them is directly before 5.
      "conceal 0",
      "conceal 1 before 5",
      "skip 320",
      "decode 5",
      "conceal 0 before 7",
      "skip 160",
      "decode 7"
    ])
    expect(heard).toEqual([1, 2, -1, -1, 5, -1, 7])
  })

  it("lets the codec go on where it stopped when a packet was only late", () => {
    const { decoder, log } = recorder()
    const buffer = JitterBuffer.make()
    const out = new Int16Array(160)
    buffer.push(one(1), decoder, 0)
    buffer.push(one(2), decoder, 0)
    for (let i = 0; i < 4; i++) buffer.pull(out, i * 20)
    buffer.push(one(3), decoder, 80)
    buffer.pull(out, 80)
    expect(log).toEqual(["decode 1", "decode 2", "conceal 0", "conceal 1", "decode 3"])
  })

  it("keeps what it was lent", () => {
    const { decoder, log } = recorder()
    const buffer = JitterBuffer.make()
    const bytes = new Uint8Array(20)
    for (const [n, length] of [8, 4, 12, 8].entries()) {
      bytes.fill(n + 1)
      buffer.push(packet(n, bytes, { payloadStart: 2, payloadEnd: 2 + length }), decoder, 0)
    }
    bytes.fill(99)
    for (let i = 0; i < 4; i++) buffer.pull(new Int16Array(160), i * 20)
    expect(log).toEqual(["decode 1", "decode 2", "decode 3", "decode 4"])
  })

  it("plays a codec whose samples are not at the clock rate, by the clock", () => {
    const { decoder, log } = recorder(2)
    const buffer = JitterBuffer.make()
    const out = new Int16Array(320)
    const heard: Array<number | undefined> = []
    for (let n = 1; n < 50; n++) {
      buffer.push(one(n), decoder, n * 20)
      buffer.pull(out, n * 20 + 5)
      heard.push(out[0], out[319])
    }
    expect(heard.slice(0, 6)).toEqual([0, 0, 1, 1, 2, 2])
    expect(buffer.depthMs()).toBe(20)
    expect(log.filter((line) => !line.startsWith("decode"))).toEqual([])
  })

  it("lets the codec know where another stream begins, or goes on behind one of another codec, and not of losses", () => {
    const [first, second] = [recorder(), recorder()]
    const buffer = JitterBuffer.make()
    const out = new Int16Array(160)
    let now = 0
    const play = (n: number, decoder: PayloadDecoder, ssrc = 1) => {
      buffer.push(packet(n, Uint8Array.of(n), { ssrc }), decoder, now)
      buffer.pull(out, (now += 20))
    }
    for (const n of [1, 2, 3, 5, 6, 7]) play(n, first.decoder)
    expect(first.resets()).toBe(1)
    for (const n of [8, 9]) play(n, second.decoder)
    for (const n of [10, 11, 12, 13, 14]) play(n, first.decoder)
    expect([first.resets(), second.resets()]).toEqual([2, 1])
    now += 400
    for (const n of [50, 51, 52, 53, 54]) play(n, first.decoder, 2)
    expect([first.resets(), second.resets()]).toEqual([3, 1])
  })

  it("goes on at another rate between two frames, and loses at most the rest of a packet", () => {
    let samplesPerUnit = 1
    const decoded: Array<number> = []
    /** A packet has 30 ms; each sample identifies its packet and its clock unit. */
    const decoder: PayloadDecoder = {
      duration: () => 240,
      decode: (payload, out) => {
        const n = payload[0] ?? 0
        decoded.push(n)
        for (let i = 0; i < 240 * samplesPerUnit; i++) out[i] = n * 1000 + Math.floor(i / samplesPerUnit)
        return 240 * samplesPerUnit
      },
      conceal: FadingRepetition.make(),
      skip: () => undefined,
      reset: () => undefined
    }
    const buffer = JitterBuffer.make()
    for (let n = 1; n < 8; n++) buffer.push(packet(n, Uint8Array.of(n), { timestamp: n * 240 }), decoder, 0)
    buffer.pull(new Int16Array(160), 0)
    samplesPerUnit = 3
    const out = new Int16Array(480)
    // Half a frame of the first packet was left; a whole frame is concealed in its place.
    expect(buffer.pull(out, 20)).toBe("concealed")
    expect(buffer.pull(out, 40)).toBe("audio")
    expect([out[250], out[479]]).toEqual([2083, 2159])
    expect(buffer.pull(out, 60)).toBe("audio")
    expect([out[0], out[239], out[240], out[479]]).toEqual([2160, 2239, 3000, 3079])
    expect(decoded).toEqual([1, 2, 3])
  })

  it("refuses packets that are too long, in octets or in time, and those that are none", () => {
    const buffer = JitterBuffer.make()
    const { decoder } = recorder()
    expect(buffer.push(packet(1, new Uint8Array(1921)), decoder, 0)).toBe("overflow")
    const [long, none] = [1601, 0].map((units) => ({ ...decoder, duration: () => units }))
    if (long !== undefined) expect(buffer.push(one(2), long, 0)).toBe("overflow")
    if (none !== undefined) expect(buffer.push(one(3), none, 0)).toBe("late")
    expect(buffer.counters).toMatchObject({ queued: 0, overflow: 2, late: 1 })
  })

  it("holds 64 packets, those that are due first", () => {
    const buffer = JitterBuffer.make()
    const { decoder, log } = recorder()
    // The order is backward, so that each later one replaces the farthest.
    for (let n = 99; n > 0; n--) buffer.push(packet(n, Uint8Array.of(n), { timestamp: n * 20 }), decoder, 0)
    expect(buffer.counters).toMatchObject({ queued: 99, overflow: 35 })
    for (let i = 0; i < 20; i++) buffer.pull(new Int16Array(160), i * 20)
    const decoded = log.filter((line) => line.startsWith("decode")).map((line) => Number(line.slice(7)))
    expect(decoded[0]).toBe(1)
    expect(Math.max(...decoded)).toBe(64)
  })
})
