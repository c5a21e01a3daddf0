import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as G711 from "../../../../src/protocol/audio/codec/G711.ts"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"
import * as Wav from "../../../../src/protocol/audio/file/Wav.ts"
import { hostile } from "../../rtp/RandomBytes.ts"

const chunk = (id: string, body: ReadonlyArray<number> | Uint8Array, stated = body.length) => {
  const bytes = new Uint8Array(8 + body.length + (body.length & 1))
  bytes.set(new TextEncoder().encode(id))
  new DataView(bytes.buffer).setUint32(4, stated, true)
  bytes.set(body, 8)
  return bytes
}
const le = (value: number, width: number) => Array.from({ length: width }, (_, i) => (value >>> (8 * i)) & 255)
const format = (tag: number, channels: number, sampleRate: number, bits: number, more: ReadonlyArray<number> = []) =>
  chunk("fmt ", [
    ...le(tag, 2),
    ...le(channels, 2),
    ...le(sampleRate, 4),
    ...le((sampleRate * channels * bits) / 8, 4),
    ...le((channels * bits) / 8, 2),
    ...le(bits, 2),
    ...more
  ])
const file = (...chunks: ReadonlyArray<Uint8Array>) => {
  const body = chunks.flatMap((part) => [...part])
  return Uint8Array.from([
    ...new TextEncoder().encode("RIFF"),
    ...le(body.length + 4, 4),
    ...new TextEncoder().encode("WAVE"),
    ...body
  ])
}
const floats = (...values: ReadonlyArray<number>) => new Uint8Array(Float32Array.from(values).buffer)
const samplesOf = (bytes: Uint8Array) => [...Result.getOrThrow(Wav.read(bytes)).samples]

describe("WAVE files", () => {
  it("reads back what it writes", () => {
    const sound = { sampleRate: 16_000, samples: Tone.sine(440, -6, 30, 16_000) }
    expect(Result.getOrThrow(Wav.read(Wav.write(sound)))).toStrictEqual(sound)
  })

  it.each([
    ["8 bits", format(1, 1, 8000, 8), [0, 128, 255], [-32_768, 0, 32_512]],
    ["16 bits", format(1, 1, 8000, 16), [0, 128, 255, 127], [-32_768, 32_767]],
    ["24 bits", format(1, 1, 8000, 24), [99, 1, 0, 0, 255, 255], [1, -1]],
    ["32 bits", format(1, 1, 8000, 32), [9, 9, 1, 0, 0, 0, 255, 255], [1, -1]],
    [
      "32-bit floating point",
      format(3, 1, 8000, 32),
      [...floats(0.5, -1, 2, Number.NaN)],
      [16_384, -32_768, 32_767, 0]
    ],
    ["64-bit floating point", format(3, 1, 8000, 64), [...new Uint8Array(Float64Array.of(0.25).buffer)], [8192]],
    [
      "floating point with an extensible header",
      format(0xfffe, 1, 8000, 32, [...le(22, 2), ...le(32, 2), ...le(4, 4), ...le(3, 2), ...le(0, 14)]),
      [...floats(0.5)],
      [16_384]
    ],
    ["the mean of two channels", format(1, 2, 8000, 16), [...le(100, 2), ...le(300, 2)], [200]],
    ["the mean of six channels", format(1, 6, 8000, 8), [128, 128, 128, 128, 128, 140], [512]],
    ["mu-law", format(7, 1, 8000, 8), [0, 0xff], [...G711.decode("PCMU", Uint8Array.of(0, 0xff))]],
    ["A-law", format(6, 1, 8000, 8), [0, 0xd5], [...G711.decode("PCMA", Uint8Array.of(0, 0xd5))]],
    [
      "an extensible header",
      format(0xfffe, 1, 8000, 16, [...le(22, 2), ...le(16, 2), ...le(4, 4), ...le(1, 2), ...le(0, 14)]),
      [5, 0],
      [5]
    ]
  ] as const)("reads %s", (_, header, data, samples) => {
    expect(samplesOf(file(header, chunk("data", data)))).toStrictEqual([...samples])
  })

  it("skips other chunks, those of odd length too", () => {
    const bytes = file(chunk("LIST", [1, 2, 3]), format(1, 1, 8000, 16), chunk("fact", le(1, 4)), chunk("data", [5, 0]))
    expect(samplesOf(bytes)).toStrictEqual([5])
  })

  // The first octet of some lengths is a letter or a figure, as those of a name are.
  it("skips a chunk of odd length whose padding was left out, whatever the length of the next one is", () => {
    const list = chunk("LIST", [1, 2, 3]).subarray(0, 11)
    for (let count = 1; count <= 128; count++) {
      const samples = Array.from({ length: count }, (_, i) => i)
      const data = chunk(
        "data",
        samples.flatMap((sample) => le(sample, 2))
      )
      expect(samplesOf(file(list, format(1, 1, 8000, 16), list, data))).toStrictEqual(samples)
    }
  })

  it("skips padding that is a letter", () => {
    const list = chunk("LIST", [1, 2, 3])
    list[11] = 0x78
    expect(samplesOf(file(list, format(1, 1, 8000, 16), list, chunk("data", [5, 0])))).toStrictEqual([5])
  })

  it("reads RF64, whose data length of 64 bits is in a chunk of its own", () => {
    const long = [...le(0, 8), ...le(4, 4), ...le(0, 4), ...le(0, 12)]
    const bytes = file(chunk("ds64", long), format(1, 1, 8000, 16), chunk("data", [5, 0, 6, 0, 9, 9], 0xffff_ffff))
    bytes.set(new TextEncoder().encode("RF64"))
    expect(samplesOf(bytes)).toStrictEqual([5, 6])
  })

  it.each([[0], [0x7fff_f000], [0xffff_ffff]])("reads to the end when the data length says %i", (stated) => {
    expect(samplesOf(file(format(1, 1, 8000, 16), chunk("data", [5, 0, 6, 0], stated)))).toStrictEqual([5, 6])
  })

  it.each([
    ["unsupported_format", new Uint8Array(0)],
    ["unsupported_format", file(format(2, 1, 8000, 4), chunk("data", [0, 0, 0, 0]))],
    ["unsupported_format", file(format(3, 1, 8000, 16), chunk("data", [0, 0, 0, 0]))],
    ["unsupported_format", file(format(1, 0, 8000, 16), chunk("data", [0, 0]))],
    ["unsupported_format", file(format(1, 1, 1, 16), chunk("data", [0, 0]))],
    ["unsupported_format", file(format(1, 1, 8000, 12), chunk("data", [0, 0]))],
    ["unsupported_format", file(chunk("data", [0, 0]))],
    ["empty", file(format(1, 1, 8000, 16))],
    ["empty", file(format(1, 2, 8000, 16), chunk("data", [0, 0]))]
  ] as const)("refuses as %s", (reason, bytes) => expect(Wav.read(bytes)).toStrictEqual(Result.fail(reason)))

  it("writes a header that a stream may leave at length 0", () => {
    const header = Wav.header({ sampleRate: 8000, channels: 2 }, 0)
    expect(header.length).toBe(Wav.headerLength)
    const streamed = Uint8Array.from([...header, ...Wav.data(Int16Array.of(10, 20, -10, -20))])
    expect(samplesOf(streamed)).toStrictEqual([15, -15])
  })

  it("never throws on hostile bytes", () => {
    const sample = file(
      format(1, 2, 8000, 16),
      chunk("LIST", [1, 2, 3]),
      chunk(
        "data",
        Array.from({ length: 64 }, (_, i) => i)
      )
    )
    for (const bytes of hostile(10_000, 4, [sample])) Wav.read(bytes)
  })
})
