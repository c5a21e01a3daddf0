import { describe, expect, it } from "@effect/vitest"
import * as Libopus from "../../../../src/protocol/audio/codec/Libopus.ts"
import * as Opus from "../../../../src/protocol/audio/codec/Opus.ts"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import type { SampleRate } from "../../../../src/protocol/audio/SampleRate.ts"
import * as Goertzel from "../../../support/Goertzel.ts"

const rates = [8000, 16_000, 24_000, 48_000] as const

/** The packets of a sound, frame by frame. */
const encode = (sound: Int16Array, rate: SampleRate, fmtp: string | null = null, lossReported = 0) => {
  const { frameOctets } = Opus.codec(rate)
  const encoder = Opus.codec(rate).encoder(fmtp)
  encoder.reported(lossReported)
  const packets: Array<Uint8Array> = []
  for (let at = 0; at + rate / 50 <= sound.length; at += rate / 50) {
    const out = new Uint8Array(frameOctets + 7)
    const length = encoder.encode(sound.subarray(at, at + rate / 50), out, 7)
    packets.push(out.slice(7, 7 + length))
  }
  encoder.free()
  return packets
}

const decode = (packets: ReadonlyArray<Uint8Array>, rate: SampleRate): Int16Array => {
  const decoder = Opus.codec(rate).decoder()
  const frame = new Int16Array(rate / 50)
  const sound = packets.flatMap((packet) => {
    expect(decoder.decode(packet, frame)).toBe(rate / 50)
    return [...frame]
  })
  decoder.free()
  return Int16Array.from(sound)
}

/** The output of a decoder for packets of which some are lost, with the concealed sound in their place. */
const withLosses = (packets: ReadonlyArray<Uint8Array>, rate: SampleRate, isLost: (index: number) => boolean) => {
  const decoder = Opus.codec(rate).decoder()
  const frame = new Int16Array(rate / 50)
  const last = new Int16Array(rate / 50)
  let lost = 0
  const sound = packets.flatMap((packet, i) => {
    if (isLost(i)) {
      const following = isLost(i + 1) ? null : (packets[i + 1] ?? null)
      decoder.conceal(frame, { from: 0, framesBefore: lost++, last, following })
    } else {
      if (lost > 0) decoder.skip(lost * 960)
      lost = 0
      decoder.decode(packet, frame)
    }
    last.set(frame)
    return [...frame]
  })
  decoder.free()
  return Int16Array.from(sound)
}

/** A glide, so that repeated sound differs from the lost sound. */
const glide = (rate: SampleRate, ms: number): Int16Array =>
  Int16Array.from({ length: (rate * ms) / 1000 }, (_, i) => {
    const s = i / rate
    return 12_000 * Math.sin(2 * Math.PI * (200 * s + 150 * s * s))
  })

const difference = (one: Int16Array, other: Int16Array): number =>
  one.reduce((sum, sample, i) => sum + (sample - (other[i] ?? 0)) ** 2, 0) / one.length

describe("Opus", () => {
  it.each(
    rates.flatMap((rate) => [300, 1000, 3000, 6000, 10_000].flatMap((f) => (f < rate * 0.42 ? [[rate, f]] : [])))
  )("at %i Hz carries a tone of %i Hz at its level", (rate, frequency) => {
    const known = rates.find((one) => one === rate) ?? 8000
    const heard = decode(encode(Tone.sine(frequency ?? 0, -12, 1000, known), known), known)
    expect(Math.abs(Goertzel.level(heard.subarray(known / 2), frequency ?? 0, known) + 12)).toBeLessThan(2)
  })

  it("is decoded at any rate, whatever the rate of the encoder", () => {
    const packets = encode(Tone.sine(1000, -12, 1000, 16_000), 16_000)
    for (const rate of rates)
      expect(Goertzel.level(decode(packets, rate).subarray(rate / 2), 1000, rate)).toBeCloseTo(-12, 0)
  })

  it.each([
    ["a frame of 10 ms of SILK", [0x00], 480],
    ["two of 60 ms", [0x19], 5760],
    ["three of 60 ms, which is too long", [0x1b, 3], 0],
    ["a hybrid frame of 20 ms", [0x68], 960],
    ["a CELT frame of 2.5 ms", [0x80], 120],
    ["six CELT frames of 20 ms", [0x9b, 6], 5760],
    ["no frame", [0x9b, 0], 0],
    ["a count that is missing", [0x9b], 0],
    ["nothing", [], 0]
  ])("tells how long %s lasts by its first octets", (_, octets, units) => {
    const bytes = Uint8Array.of(9, 9, ...octets, 9)
    expect(
      Opus.codec(16_000)
        .decoder()
        .duration(bytes, 2, 2 + octets.length)
    ).toBe(units)
  })

  it("restores a lost frame from the copy in the next packet, when losses were reported", () => {
    const sound = glide(16_000, 2000)
    const isLost = (i: number) => i > 25 && i % 5 === 0
    const errorWith = (fmtp: string | null, loss: number) => {
      const packets = encode(sound, 16_000, fmtp, loss)
      return difference(withLosses(packets, 16_000, isLost), decode(packets, 16_000))
    }
    expect(errorWith("useinbandfec=1", 0.2)).toBeLessThan(errorWith(null, 0.2) / 2)
  })

  it("conceals what is lost without a copy, without a step, and fades it out", () => {
    const packets = encode(Tone.sine(440, -12, 1200, 16_000), 16_000)
    const heard = withLosses(packets, 16_000, (i) => i >= 30)
    const before = Goertzel.totalLevel(heard.subarray(29 * 320, 30 * 320))
    expect(Math.abs(Goertzel.totalLevel(heard.subarray(30 * 320, 31 * 320)) - before)).toBeLessThan(6)
    expect(Goertzel.totalLevel(heard.subarray(heard.length - 320))).toBeLessThan(before - 20)
  })

  it.each(rates)("keeps the level of steady sound where a frame without a copy is lost, at %i Hz", (rate) => {
    const tones = [220, 440, 700, 1000, 1700, 3000].map((frequency) => Tone.sine(frequency, -12, 1400, rate))
    for (const sound of [...tones, glide(rate, 1400)]) {
      const packets = encode(sound, rate)
      const whole = decode(packets, rate)
      for (let index = 30; index < 60; index++) {
        const heard = withLosses(packets, rate, (i) => i === index)
        const frame = [index * (rate / 50), (index + 1) * (rate / 50)] as const
        const fallen = Goertzel.totalLevel(whole.subarray(...frame)) - Goertzel.totalLevel(heard.subarray(...frame))
        expect(Math.abs(fallen)).toBeLessThan(3.5)
      }
    }
  })

  it("needs no packet for silence where the peer asks for that, and now and then one all the same", () => {
    const silence = new Int16Array(16_000 * 2)
    expect(encode(silence, 16_000, "usedtx=1").filter(({ length }) => length === 0).length).toBeGreaterThan(70)
    expect(encode(silence, 16_000, "usedtx=1").filter(({ length }) => length > 0).length).toBeGreaterThan(3)
    expect(encode(silence, 16_000, "usedtx=0; useinbandfec=1").every(({ length }) => length > 0)).toBe(true)
  })

  it("takes no more bits than the peer allows", () => {
    const sound = glide(16_000, 2000)
    const octets = (fmtp: string | null) => encode(sound, 16_000, fmtp).reduce((sum, { length }) => sum + length, 0)
    expect(octets("maxaveragebitrate=10000") * 4).toBeLessThan(10_000 * 1.2)
    expect(octets("maxaveragebitrate=510000")).toBe(octets(null))
    expect(octets("maxaveragebitrate=nonsense")).toBe(octets(null))
  })

  it("makes something up for a packet that is malformed behind its first octets", () => {
    const [good = new Uint8Array()] = encode(glide(16_000, 100), 16_000)
    const decoder = Opus.codec(16_000).decoder()
    const frame = new Int16Array(320)
    expect(decoder.decode(good, frame)).toBe(320)
    // The packet has code 3 with more padding than there are octets.
    expect(decoder.decode(Uint8Array.of((good[0] ?? 0) | 3, 0x41, 200), frame)).toBe(320)
  })

  it("begins again after a reset as it began", () => {
    const packets = encode(glide(16_000, 400), 16_000)
    const decoder = Opus.codec(16_000).decoder()
    const heard = () => {
      const frame = new Int16Array(320)
      decoder.reset()
      return packets.flatMap((packet) => {
        decoder.decode(packet, frame)
        return [...frame]
      })
    }
    expect(heard()).toEqual(heard())
  })

  it("gives all of its memory back", () => {
    const held = Libopus.codersHeld()
    const [encoder, decoder] = [Opus.codec(8000).encoder(null), Opus.codec(8000).decoder()]
    expect(Libopus.codersHeld()).toBe(held + 2)
    encoder.free()
    decoder.free()
    expect(Libopus.codersHeld()).toBe(held)
  })
})
