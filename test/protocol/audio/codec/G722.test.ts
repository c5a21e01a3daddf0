import { createHash } from "node:crypto"
import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as G722 from "../../../../src/protocol/audio/codec/G722.ts"
import * as Goertzel from "../../../support/Goertzel.ts"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import * as G722Sample from "./G722Sample.ts"

const frameSamples = 320

/** Encodes in frames, as a leg does. */
const encode = (samples: Int16Array): Uint8Array => {
  const encoder = G722.codec.encoder(null)
  const octets = new Uint8Array(samples.length >> 1)
  for (let at = 0; at < samples.length; at += frameSamples)
    encoder.encode(samples.subarray(at, at + frameSamples), octets, at >> 1)
  return octets
}

const decode = (octets: Uint8Array, pieceOctets = 160): Int16Array => {
  const decoder = G722.codec.decoder()
  const samples = new Int16Array(octets.length * 2)
  for (let at = 0; at < octets.length; at += pieceOctets)
    decoder.decode(octets.subarray(at, at + pieceOctets), samples.subarray(2 * at))
  return samples
}

const digest = (array: Int16Array | Uint8Array): string =>
  createHash("sha256")
    .update(new Uint8Array(array.buffer, array.byteOffset, array.byteLength))
    .digest("hex")

const noise = (octets: number): Uint8Array => {
  let state = 7
  return Uint8Array.from({ length: octets }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0
    return (state >>> 16) & 255
  })
}

/** The output of `ffmpeg -c:a g722` of version 5.1.9 for `G722Sample.sound(240_000)`, and for that decoded again. */
const reference = {
  first:
    "KoQghCCEBIcHiEhJysrLzM3Nzs/QkNHR0tPU1NTU1dXW19nY2NfZ2djZ2dra29za293b3dve3dzc2/7c3N7//t78+/37+vf59fTy8/Tv9PDv8vDv8fDv" +
    "8u/zca+0rbCwN7hy+fO48nr8tft6+/n63L7ffd7enNXY1NXWV9iQ0taTF5QTl/zb2Nf+Vdr63/uZ+t3+9/jw9vb29O3y8KzwLw==",
  encoded: "a97462fb49aab1c076160a2ef9a9b2c579ad808ef604d8c08b5ac018ba3df2dc",
  decoded: "42b621d39f63f6a3875ee7f31c50d48e5c39aae31b80fbd688e9505316bf0300",
  /** The output for `noise(40_000)`, which no encoder makes. */
  decodedNoise: "37f70d9ebe18689f98d0d90c6f1b5e708fcbb46b238c21c2c96f8fa3f44a3b3f"
}

const power = (dbfs: number): number => 10 ** (dbfs / 10)

describe("G.722", () => {
  it("encodes 15 s of tones, noise, full scale and silence bit for bit as the reference does", () => {
    const octets = encode(G722Sample.sound(240_000))
    expect(Buffer.from(octets.subarray(0, 160)).toString("base64")).toBe(reference.first)
    expect(digest(octets)).toBe(reference.encoded)
  })

  it("decodes them bit for bit as the reference does, in pieces of any length", () => {
    const octets = encode(G722Sample.sound(240_000))
    for (const piece of [160, 80, 7, 1600]) expect(digest(decode(octets, piece))).toBe(reference.decoded)
  })

  it("decodes noise, which no encoder makes, bit for bit as the reference does", () => {
    expect(digest(decode(noise(40_000)))).toBe(reference.decodedNoise)
  })

  it.each([300, 1000, 3400, 5000, 6500])("carries a tone of %i Hz at its level", (frequency) => {
    const heard = decode(encode(Tone.sine(frequency, -12, 1000, 16_000))).subarray(1600, 14_400)
    const tone = Goertzel.level(heard, frequency, 16_000)
    expect(tone).toBeCloseTo(-12, 0)
    // The rest without the tone is at least 15 dB below it, also in the upper band with its two bits.
    expect(10 * Math.log10(power(Goertzel.totalLevel(heard)) - power(tone))).toBeLessThan(-27)
  })

  it("says silence as silence", () => {
    expect(Math.max(...decode(encode(new Int16Array(3200))).map(Math.abs))).toBeLessThan(4)
  })

  it.prop(
    "gives any sound back without leaving the range, one octet for two samples",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: -32_768, maximum: 32_767 })))],
    ([values]) => {
      const samples = Int16Array.from({ length: 640 }, (_, i) => values[i % Math.max(1, values.length)] ?? 0)
      const octets = encode(samples)
      expect(octets.length).toBe(320)
      const heard = decode(octets)
      expect(heard.length).toBe(640)
      expect(G722.codec.decoder().duration(octets, 0, octets.length)).toBe(octets.length)
    }
  )

  it("keeps streams apart: two that take turns give what each gives alone", () => {
    const [one, two] = [G722Sample.sound(6400), Tone.sine(3000, -6, 400, 16_000)]
    const [first, second] = [G722.codec.encoder(null), G722.codec.encoder(null)]
    const octets = [new Uint8Array(3200), new Uint8Array(3200)] as const
    for (let at = 0; at < 6400; at += frameSamples) {
      first.encode(one.subarray(at, at + frameSamples), octets[0], at >> 1)
      second.encode(two.subarray(at, at + frameSamples), octets[1], at >> 1)
    }
    expect(octets[0]).toStrictEqual(encode(one))
    expect(octets[1]).toStrictEqual(encode(two))
  })

  it("decodes behind a reset as at first", () => {
    const [loud, quiet] = [Tone.sine(1000, -3, 200, 16_000), Tone.sine(700, -40, 200, 16_000)].map(encode)
    const decoder = G722.codec.decoder()
    const samples = new Int16Array(3200)
    decoder.decode(loud ?? new Uint8Array(), samples)
    decoder.reset()
    decoder.decode(quiet ?? new Uint8Array(), samples)
    expect(samples).toEqual(decode(quiet ?? new Uint8Array()))
  })

  it("takes no longer for a loss of hours than for one of 160 ms, and goes on alike", () => {
    const sound = encode(Tone.sine(1000, -10, 200, 16_000))
    const behind = (units: number) => {
      const decoder = G722.codec.decoder()
      const samples = new Int16Array(sound.length * 2)
      decoder.decode(sound, samples)
      decoder.skip(units)
      decoder.decode(sound, samples)
      return samples
    }
    expect(behind(0x7fff_ffff)).toEqual(behind(8 * 160))
    expect(behind(160)).not.toEqual(behind(8 * 160))
  })

  it("goes on behind a loss without a burst", () => {
    // A loud tone stops while 60 ms are lost; the sound after that is quiet.
    const loud = Tone.sine(700, -6, 200, 16_000)
    const quiet = Tone.sine(900, -40, 200, 16_000)
    const octets = encode(Int16Array.from([...loud, ...quiet]))
    const heardBehind = (lost: number) => {
      const decoder = G722.codec.decoder()
      decoder.decode(octets.subarray(0, 1600), new Int16Array(3200))
      decoder.skip(lost)
      const out = new Int16Array(320)
      decoder.decode(octets.subarray(1600 + 480, 1600 + 640), out)
      return Math.max(...out.map(Math.abs))
    }
    expect(heardBehind(0)).toBeGreaterThan(5000)
    expect(heardBehind(480)).toBeLessThan(1000)
  })
})
