import { describe, expect, it } from "@effect/vitest"
import * as Codecs from "../../../src/protocol/audio/codec/Codecs.ts"
import * as Click from "../mix/Click.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Frame from "../../../src/media/Frame.ts"
import * as RtpReceiver from "../../../src/media/rtp/RtpReceiver.ts"
import type { Encoding } from "../../../src/media/rtp/RtpSender.ts"
import type { RtpPacket } from "../../../src/protocol/rtp/RtpPacket.ts"

const wide: Encoding = { codec: "G722", fmtp: null, audio: { send: 9, receive: 9 }, telephoneEvent: null, ptimeMs: 20 }

/**
 * A peer that sends a tone of 1 kHz, each frame in a codec of the caller's choice; the received sound comes out in
 * frames.
 */
const setup = (codecs: typeof Codecs.table = Codecs.table) => {
  const receiver = RtpReceiver.make(() => undefined, codecs)
  const encoders = {
    PCMU: codecs.PCMU.encoder(null),
    PCMA: codecs.PCMA.encoder(null),
    G722: codecs.G722.encoder(null),
    OPUS: codecs.OPUS.encoder(null),
    L16: codecs.L16.encoder(null)
  }
  const tones = {
    8000: Tone.oscillator([{ frequency: 1000, dbfs: -12 }], 8000),
    16_000: Tone.oscillator([{ frequency: 1000, dbfs: -12 }], 16_000)
  }
  let n = 0
  let timestamp = 0
  let present: Codecs.CodecName = "PCMU"
  const packet = (name: Codecs.CodecName, payloadType: number): RtpPacket => {
    const { clockRate, sampleRate } = codecs[name]
    const frame = Frame.make(sampleRate)
    for (const rate of [8000, 16_000] as const)
      tones[rate].render(rate === sampleRate ? frame.samples : Frame.make(rate).samples)
    const bytes = new Uint8Array(12 + Codecs.longestFrameOctets)
    // A peer that changes its codec begins with a fresh encoder.
    if (name !== present) encoders[name] = codecs[name].encoder(null)
    present = name
    const length = encoders[name].encode(frame.samples, bytes, 12)
    timestamp += clockRate / 50
    return {
      payloadType,
      marker: false,
      ssrc: 1,
      sequenceNumber: n++,
      timestamp,
      bytes,
      payloadStart: 12,
      payloadEnd: 12 + length
    }
  }
  return {
    receiver,
    /** Sends frames, a packet for each; returns the sound that is received meanwhile, at this rate. */
    hear: (
      rate: SampleRate,
      frames: number,
      name: Codecs.CodecName,
      payloadType: number,
      encoding: Encoding = wide
    ) => {
      const out = Frame.make(rate)
      const heard: Array<number> = []
      for (let i = 0; i < frames; i++) {
        receiver.receive(packet(name, payloadType), encoding, n * 20)
        receiver.pull(out, n * 20 + 5)
        heard.push(...out.samples)
      }
      return Int16Array.from(heard)
    }
  }
}

const level = (sound: Int16Array, rate: SampleRate) => Goertzel.level(sound, 1000, rate)
/** Returns the rest without the tone, in which a click would show. */
const rest = (sound: Int16Array, rate: SampleRate) => {
  const period = rate / 1000
  return Goertzel.totalLevel(sound.subarray(period).map((sample, i) => (sample - (sound[i] ?? 0)) / 2))
}

/** How much a tone of 1 kHz and -12 dBFS changes from one sample to the next. */
const steepest = (rate: SampleRate): number => (32_768 * 10 ** (-12 / 20) * 2 * Math.PI * 1000) / rate

describe("A receiver of RTP", () => {
  it.each([
    ["from another source", 2, null],
    ["behind a change of codec", 1, "PCMU"]
  ] as const)("hears a quiet stream in G.722 %s without a burst of the loud one before", (_, ssrc, between) => {
    const receiver = RtpReceiver.make(() => undefined)
    const out = Frame.make(16_000)
    let n = 0
    const hear = (name: "G722" | "PCMU", source: number, dbfs: number, frames: number): number => {
      const { encode } = Codecs.table[name].encoder(null)
      const rate = Codecs.table[name].sampleRate
      const oscillator = Tone.oscillator([{ frequency: 1000, dbfs }], rate)
      let peak = 0
      for (let i = 0; i < frames; i++) {
        const frame = Frame.make(rate)
        oscillator.render(frame.samples)
        const bytes = new Uint8Array(172)
        encode(frame.samples, bytes, 12)
        const payloadType = Codecs.table[name].payloadType ?? 0
        const header = { payloadType, marker: false, ssrc: source, sequenceNumber: n, timestamp: n * 160 }
        receiver.receive({ ...header, bytes, payloadStart: 12, payloadEnd: 172 }, wide, n * 20)
        n++
        receiver.pull(out, n * 20)
        peak = out.samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), peak)
      }
      return peak
    }
    expect(hear("G722", 1, -3, 20)).toBeGreaterThan(20_000)
    for (let i = 0; i < 20; i++) receiver.pull(out, ++n * 20)
    if (between !== null) hear(between, 1, -60, 10)
    expect(hear("G722", ssrc, -40, 20)).toBeLessThan(500)
  })

  it("reports on the source that is heard, whatever others put between its packets", () => {
    const encoding = { ...wide, telephoneEvent: { send: 101, receive: 101, clockRate: 8000 } }
    const plain = setup()
    const attacked = setup()
    const bytes = new Uint8Array(4000)
    const foreign = (ssrc: number, payloadType: number, length: number): RtpPacket => ({
      payloadType,
      marker: false,
      ssrc,
      sequenceNumber: 40_000 + length,
      timestamp: 77,
      bytes,
      payloadStart: 12,
      payloadEnd: 12 + length
    })
    for (let i = 0; i < 50; i++) {
      for (const { hear } of [plain, attacked]) hear(16_000, 1, "G722", 9, encoding)
      for (const length of [0, 1, 1599, 1601, 3000])
        for (const payloadType of [0, 8, 9, 77, 101])
          attacked.receiver.receive(foreign(99 + (i % 2), payloadType, length), encoding, i * 20 + 7)
    }
    expect(attacked.receiver.report()).toEqual(plain.receiver.report())
    expect(attacked.receiver.totals()).toEqual(plain.receiver.totals())
  })

  it.each([
    ["PCMU", 0],
    ["PCMA", 8],
    ["G722", 9]
  ] as const)("hears %s at the rate of its leg, whatever that is", (name, payloadType) => {
    for (const rate of [8000, 16_000, 48_000] as const) {
      const heard = setup()
        .hear(rate, 40, name, payloadType)
        .subarray(rate / 5)
      expect(level(heard, rate)).toBeCloseTo(-12, 0)
      expect(rest(heard, rate)).toBeLessThan(-35)
    }
  })

  it("follows a peer that changes over to a static payload type of another rate and back, without a gap", () => {
    const { hear, receiver } = setup()
    hear(16_000, 20, "G722", 9)
    for (const [name, payloadType] of [
      ["PCMU", 0],
      ["PCMA", 8],
      ["G722", 9]
    ] as const) {
      // The first frames are still those of the codec before.
      const heard = hear(16_000, 20, name, payloadType)
      // A filter begins with the change; its lag is shorter than a window.
      for (let at = 0; at < heard.length; at += 160)
        expect(Math.abs(Goertzel.totalLevel(heard.subarray(at, at + 160)) + 12)).toBeLessThan(4)
      expect(level(heard.subarray(3200), 16_000)).toBeCloseTo(-12, 0)
    }
    expect(receiver.counters()).toMatchObject({ concealed: 0, unknownPayloads: 0 })
  })

  it("goes on when another rate is agreed in the middle of the stream", () => {
    const { hear, receiver } = setup()
    const narrow: Encoding = { ...wide, codec: "PCMU", audio: { send: 0, receive: 0 } }
    hear(16_000, 20, "G722", 9)
    const heard = hear(8000, 20, "PCMU", 0, narrow)
    expect(level(heard.subarray(1600), 8000)).toBeCloseTo(-12, 0)
    expect(receiver.counters().concealed).toBeLessThan(2)
  })

  it.each([
    // Packets of the codec before are converted to the new rate until those of the new one come.
    ["another rate is agreed, and then another codec comes", 8000, "PCMU", 16_000, "G722"],
    ["another rate is agreed, and then another codec comes", 16_000, "G722", 8000, "PCMU"],
    ["a peer changes over to another codec unasked", 16_000, "G722", 16_000, "PCMU"],
    ["a peer changes over to another codec unasked", 16_000, "PCMU", 16_000, "G722"],
    ["a peer changes over to another law", 8000, "PCMU", 8000, "PCMA"]
  ] as const)("goes on without a click when %s", (_, rate, name, nextRate, next) => {
    const { hear } = setup()
    const encoding = (codec: Codecs.CodecName): Encoding => ({ ...wide, codec, audio: { send: 112, receive: 111 } })
    const payloadType = (codec: Codecs.CodecName): number => Codecs.table[codec].payloadType ?? 0
    hear(rate, 20, name, payloadType(name), encoding(name))
    const steady = hear(rate, 20, name, payloadType(name), encoding(name))
    const changing = Int16Array.from([
      ...hear(nextRate, 5, name, payloadType(name), encoding(next)),
      ...hear(nextRate, 20, next, payloadType(next), encoding(next))
    ])
    const after = hear(nextRate, 20, next, payloadType(next), encoding(next))
    const wholly = rate === nextRate ? Int16Array.from([...steady, ...changing, ...after]) : changing
    const most = Math.max(Click.largest(after), rate === nextRate ? Click.largest(steady) : 0)
    expect(Click.largest(wholly)).toBeLessThan(2 * most)
    if (rate === nextRate) return
    // Across the change the rates differ: the step itself is judged.
    const step = Math.abs((changing[0] ?? 0) - (steady.at(-1) ?? 0))
    expect(step).toBeLessThan(steepest(rate))
  })

  it("takes the codec that was agreed under a dynamic payload type, and drops what was not agreed", () => {
    const { hear, receiver } = setup()
    const dynamic: Encoding = { ...wide, audio: { send: 112, receive: 111 } }
    expect(level(hear(16_000, 20, "G722", 111, dynamic).subarray(3200), 16_000)).toBeCloseTo(-12, 0)
    expect(level(hear(16_000, 10, "G722", 112, dynamic), 16_000)).toBeCloseTo(-12, 0)
    hear(16_000, 5, "G722", 113, dynamic)
    expect(receiver.counters().unknownPayloads).toBe(5)
  })

  it("begins a new timeline with a codec of another clock rate, and keeps the totals", () => {
    const codecs = { ...Codecs.table, PCMA: { ...Codecs.table.PCMA, clockRate: 48_000, decoder: scaled } }
    const { hear, receiver } = setup(codecs)
    hear(16_000, 20, "G722", 9)
    const heard = hear(16_000, 20, "PCMA", 8)
    expect(level(heard.subarray(3200), 16_000)).toBeCloseTo(-12, 0)
    expect(receiver.totals()).toMatchObject({ packetsReceived: 40, packetsLost: 0 })
  })
})

/** A-law as if its clock ran at 48 kHz. */
const scaled = () => {
  const decoder = Codecs.table.PCMA.decoder()
  return { ...decoder, duration: (_: Uint8Array, start: number, end: number) => (end - start) * 6 }
}
