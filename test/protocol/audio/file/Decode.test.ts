import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as Decode from "../../../../src/protocol/audio/file/Decode.ts"
import * as G711 from "../../../../src/protocol/audio/codec/G711.ts"
import * as FlacFrame from "./FlacFrame.ts"
import * as Goertzel from "../../../support/Goertzel.ts"
import * as Mp3 from "../../../../src/protocol/audio/file/Mp3.ts"
import * as OggPages from "./OggPages.ts"
import * as Resample from "../../../../src/protocol/audio/Resample.ts"
import type { SampleRate } from "../../../../src/protocol/audio/SampleRate.ts"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import * as Wav from "../../../../src/protocol/audio/file/Wav.ts"

/** Written by LAME: 800 ms of 440 Hz at -12 dBFS; 500 ms of 1 kHz at -20 dBFS. */
const mono = new Uint8Array(readFileSync(new URL("./tone-440hz-16khz-mono.mp3", import.meta.url)))
const stereo = new Uint8Array(readFileSync(new URL("./tone-1000hz-44khz-stereo.mp3", import.meta.url)))
/** 800 ms of 440 Hz at -12 dBFS at 16 kHz, written by flac 1.4.2, oggenc 1.4.2 and opusenc 0.1.10. */
const [flac, flacInOgg, vorbis, opus] = [
  "tone-440hz.flac",
  "tone-440hz-flac.ogg",
  "tone-440hz-vorbis.ogg",
  "tone-440hz-opus.ogg"
].map((name) => new Uint8Array(readFileSync(new URL(name, import.meta.url)))) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array
]
const limits = { maxSeconds: 10 }

const decode = async (
  bytes: Uint8Array,
  contentType: string | null = null,
  rate: SampleRate = 8000,
  within: Decode.Limits = limits
): Promise<Result.Result<Int16Array, Decode.Fault>> => {
  const opened = await Decode.open(bytes, contentType, rate, within)
  if (Result.isFailure(opened)) return Result.fail(opened.failure)
  const { free, next } = opened.success
  const parts: Array<Int16Array> = []
  for (let part = next(); ; part = next()) {
    if (Result.isSuccess(part) && part.success !== null) {
      parts.push(part.success)
      continue
    }
    free()
    return Result.isFailure(part) ? Result.fail(part.failure) : Result.succeed(Resample.concat(parts))
  }
}
const decoded = async (bytes: Uint8Array, contentType: string | null = null, rate: SampleRate = 8000) =>
  Result.getOrThrow(await decode(bytes, contentType, rate))
/** The middle half, in which codec and filter have settled. */
const middle = (samples: Int16Array) => samples.subarray(samples.length >> 2, (samples.length * 3) >> 2)

describe("Resampling", () => {
  it.each([
    [8000, 48_000],
    [48_000, 8000],
    [44_100, 8000],
    [22_050, 8000],
    [11_025, 8000]
  ])("keeps a tone, its level and its length from %i to %i Hz, in uneven pieces", async (from, to) => {
    const input = Tone.sine(1000, -10, 1000, from)
    const resampler = Resample.make(from, to)
    const parts: Array<Int16Array> = []
    for (let at = 0, size = 1; at < input.length; at += size, size = (size * 7) % 9973)
      parts.push(resampler.process(input.subarray(at, at + size)))
    parts.push(resampler.flush())
    resampler.free()
    const output = Resample.concat(parts)
    expect(output.length).closeTo(to, to / 1000)
    expect(Goertzel.level(output.subarray(to / 10, to / 2), 1000, to)).closeTo(-10, 0.1)
  })

  it("begins with the first sample of the input", async () => {
    const resampler = Resample.make(16_000, 8000)
    const input = new Int16Array(3200)
    input.fill(10_000, 1600)
    const output = resampler.process(input)
    expect(Math.abs(output[760] ?? 0)).toBeLessThan(200)
    expect(output[840] ?? 0).toBeGreaterThan(9000)
    resampler.free()
  })

  it("keeps what 8 kHz cannot carry out of it", async () => {
    const resampler = Resample.make(48_000, 8000)
    const output = resampler.process(Tone.sine(5000, -6, 500, 48_000))
    expect(Goertzel.totalLevel(middle(output))).toBeLessThan(-80)
    resampler.free()
  })
})

describe("Decoding files", () => {
  it.each([
    ["mono MP3 of 16 kHz", mono, 440, -12, 0.8],
    ["stereo MP3 of 44.1 kHz", stereo, 1000, -20, 0.5],
    ["FLAC", flac, 440, -12, 0.8],
    ["FLAC in Ogg", flacInOgg, 440, -12, 0.8],
    ["Vorbis in Ogg", vorbis, 440, -12, 0.8],
    ["Opus in Ogg", opus, 440, -12, 0.8],
    ["WAV of 8 kHz", Wav.write({ sampleRate: 8000, samples: Tone.sine(500, -10, 300, 8000) }), 500, -10, 0.3],
    ["WAV of 44.1 kHz", Wav.write({ sampleRate: 44_100, samples: Tone.sine(500, -10, 300, 44_100) }), 500, -10, 0.3]
  ] as const)(
    "gives 8 kHz of the right frequency, level and length from %s",
    async (_, bytes, frequency, dbfs, seconds) => {
      const samples = await decoded(bytes)
      // An MP3 contains the delay and the padding of its encoder.
      expect(samples.length / 8000).closeTo(seconds, 0.11)
      expect(Goertzel.level(middle(samples), frequency, 8000)).closeTo(dbfs, 0.5)
      expect(Goertzel.totalLevel(middle(samples))).closeTo(dbfs, 0.5)
    }
  )

  it("gives the rate that is asked for, with all that it can carry", async () => {
    const file = Wav.write({ sampleRate: 44_100, samples: Tone.sine(5000, -10, 300, 44_100) })
    const wide = await decoded(file, null, 16_000)
    expect(wide.length).closeTo(4800, 16)
    expect(Goertzel.level(middle(wide), 5000, 16_000)).closeTo(-10, 0.5)
    expect(Goertzel.totalLevel(middle(await decoded(file)))).toBeLessThan(-60)
  })

  it.each([
    ["FLAC", flac],
    ["FLAC in Ogg", flacInOgg],
    ["Vorbis in Ogg", vorbis],
    ["Opus in Ogg", opus]
  ])("gives every sample of %s, without what its encoder added", async (_, bytes) => {
    expect((await decoded(bytes, null, 16_000)).length).closeTo(12_800, 2)
  })

  it("mixes all channels of FLAC", async () => {
    const file = FlacFrame.fileOf({ sampleRate: 8000, values: [0, 0, 0, 0, 0, 12_000], length: 4096 }, 3)
    expect(await decoded(file)).toStrictEqual(new Int16Array(3 * 4096).fill(2000))
  })

  it.each([[1], [100], [3999]])("refuses FLAC of %i Hz, before a filter for it takes memory", async (sampleRate) => {
    const file = FlacFrame.fileOf({ sampleRate, values: [1000], length: 16 }, 3)
    expect(await decode(file, null, 48_000)).toStrictEqual(Result.fail("unsupported_format"))
  })

  it.each([
    ["Vorbis", vorbis],
    ["Opus", opus]
  ])("gives every sample of %s whose pages before the last have no position that is true", async (_, bytes) => {
    const samples = await decoded(bytes, null, 16_000)
    for (const granule of [0n, 1000n, -1n])
      expect(await decoded(OggPages.apart(bytes, granule), null, 16_000)).toStrictEqual(samples)
  })

  it("leaves out empty packets of Opus, of which each would be 120 ms", async () => {
    expect(await decode(OggPages.emptied(opus, 2, 1000))).toStrictEqual(Result.fail("empty"))
  })

  it("takes no octets of a picture in FLAC for a frame", async () => {
    const header = FlacFrame.header({ sampleRate: 8000, values: [1], length: 4096 }, 0)
    const picture = [6, 0, 0, header.length + 6, 1, 2, 3, ...header, 4, 5, 6]
    const file = Uint8Array.from([...flac.subarray(0, 42), ...picture, ...flac.subarray(42)])
    expect(await decoded(file)).toStrictEqual(await decoded(flac))
  })

  it("finds the frames of FLAC whose metadata state a length beyond the file", async () => {
    const file = Uint8Array.from([...flac.subarray(0, 42), 6, 0xff, 0xff, 0xff, 1, 2, 3, ...flac.subarray(42)])
    expect(await decoded(file)).toStrictEqual(await decoded(flac))
  })

  it("finds FLAC after an ID3 tag", async () => {
    const tag = Uint8Array.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 3, 1, 2, 3])
    expect((await decoded(Uint8Array.from([...tag, ...flac]))).length).closeTo(6400, 2)
  })

  it.each([
    ["FLAC", flac],
    ["FLAC in Ogg", flacInOgg],
    ["Vorbis in Ogg", vorbis],
    ["Opus in Ogg", opus]
  ])("takes %s that breaks off as far as it goes, and never throws for broken octets", async (_, bytes) => {
    expect((await decoded(bytes.subarray(0, bytes.length * 0.95))).length).toBeGreaterThan(800)
    for (let seed = 1; seed <= 20; seed++) {
      const broken = Uint8Array.from(bytes, (octet, i) =>
        (i * 31 + seed * 17) % 97 === 0 ? octet ^ (seed * 29) : octet
      )
      await decode(broken)
      await decode(broken.subarray(0, (broken.length * seed) / 20))
    }
  })

  it("ends FLAC that is longer than the limit, however small it is", async () => {
    const { free, next } = Result.getOrThrow(await Decode.open(flac, null, 16_000, { maxSeconds: 0.5 }))
    let samples = 0
    for (let part = next(); ; part = next()) {
      if (Result.isFailure(part)) {
        expect(part.failure).toBe("too_large")
        break
      }
      samples += part.success?.length ?? 0
    }
    expect(samples).toBeLessThanOrEqual(8000)
    free()
  })

  const falseHeader = FlacFrame.header({ sampleRate: 8000, values: [1], length: 4096 }, 0)
  it.each([
    [
      "FLAC of headers without frames",
      FlacFrame.file(Array.from({ length: 2000 }, () => falseHeader).flat()),
      2000 / 103
    ],
    [
      "FLAC of one header and marks of frames",
      FlacFrame.file([...falseHeader, ...Array.from({ length: 10_000 }, (_, i) => (i % 2 === 0 ? 0xff : 0xf8))]),
      10_000 / 1024
    ],
    ["FLAC in Ogg of empty packets", OggPages.emptied(flacInOgg, 2, 2000), 2000]
  ])("searches %s a little at a time", async (_, bytes, turns) => {
    const { free, next } = Result.getOrThrow(await Decode.open(bytes, null, 8000, limits))
    let calls = 1
    for (let part = next(); Result.isSuccess(part) && part.success?.length === 0; part = next()) calls++
    free()
    expect(calls).toBeGreaterThan(turns)
  })

  it.each([
    ["AAC", Uint8Array.from({ length: 400 }, (_, i) => [0xff, 0xf1, 0x50, 0x80, 0x19, 0x1f, 0xfc][i % 200] ?? 0)],
    ["MP4", Uint8Array.from([0, 0, 0, 24, ...new TextEncoder().encode("ftypM4A isomM4A mp42")])],
    ["another codec in Ogg", flacInOgg.map((octet, i) => (i === 28 ? 0x80 : octet))]
  ])("refuses %s", async (_, bytes) => {
    expect(await decode(bytes)).toStrictEqual(Result.fail("unsupported_format"))
  })

  it("finds an MP3 after 60 KiB of other data", async () => {
    const other = Uint8Array.from({ length: 60 * 1024 }, (_, i) => (i * 7919) >> 3)
    expect((await decoded(Uint8Array.from([...other, ...mono]))).length).toBeGreaterThan(6000)
  })

  it("finds an MP3 behind an ID3 tag and behind a few stray bytes", async () => {
    const tag = Uint8Array.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 1, 0, ...Array.from({ length: 128 }, () => 0xff)])
    expect(Mp3.firstFrame(Uint8Array.from([...tag, ...mono]))).toBe(tag.length)
    expect((await decoded(Uint8Array.from([...tag, 1, 2, 3, ...mono]))).length).toBeGreaterThan(6000)
  })

  it("takes headerless mu-law only by the name the server gives it", async () => {
    const octets = G711.encode("PCMU", Tone.sine(500, -10, 100, 8000))
    expect((await decoded(octets, "Audio/Basic; charset=x")).length).toBe(800)
    expect(await decode(octets, "audio/mpeg")).toStrictEqual(Result.fail("unsupported_format"))
  })

  it.each([
    ["empty", new Uint8Array(0)],
    ["empty", Wav.write({ sampleRate: 8000, samples: new Int16Array(0) })],
    ["unsupported_format", new TextEncoder().encode("<!doctype html><html>not found</html>")],
    ["unsupported_format", mono.subarray(10, 60)],
    ["too_large", Wav.write({ sampleRate: 8000, samples: new Int16Array(8000 * 11) })]
  ] as const)("refuses as %s", async (reason, bytes) => {
    expect(await decode(bytes)).toStrictEqual(Result.fail(reason))
  })

  it("refuses an MP3 beyond the limit before it decodes any of it", async () => {
    expect(await Decode.open(mono, null, 8000, { maxSeconds: 0.5 })).toStrictEqual(Result.fail("too_large"))
    expect(Mp3.seconds(mono)).closeTo(0.9, 0.05)
    expect(Mp3.seconds(stereo)).closeTo(0.55, 0.05)
  })

  it("takes an MP3 that breaks off, and one with broken frames, as far as it goes", async () => {
    expect((await decoded(mono.subarray(0, 2000))).length).toBeGreaterThan(2000)
    const broken = Uint8Array.from(mono, (octet, i) => (i > 1000 && i < 1400 ? (octet * 7 + i) & 255 : octet))
    expect((await decoded(broken)).length).toBeGreaterThan(3000)
  })
})
