import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as PcmStream from "../../../../src/protocol/audio/file/PcmStream.ts"
import * as Wav from "../../../../src/protocol/audio/file/Wav.ts"

const samples = Int16Array.from({ length: 1000 }, (_, i) => (i * 37) % 30_000)

/** Reads a stream whose bytes come in stretches of these sizes, repeated. */
const read = (shape: PcmStream.Shape, bytes: Uint8Array, sizes: ReadonlyArray<number>) => {
  const stream = PcmStream.make(shape)
  const heard: Array<number> = []
  let rate = 0
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    const stretch = stream.push(bytes.slice(at, at + size))
    if (Result.isFailure(stretch)) return stretch.failure
    heard.push(...stretch.success.samples)
    if (stretch.success.samples.length > 0) rate = stretch.success.rate
    at += size
  }
  return { rate, heard }
}

const wav = Wav.write({ sampleRate: 22_050, samples })
const whole = { rate: 22_050, heard: [...samples] }
const cuts = Schema.NonEmptyArray(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 99 })))

describe("a stream of samples", () => {
  it.prop("is the same wherever it is cut", { cuts }, ({ cuts }) => {
    expect(read({ type: "wav" }, wav, cuts)).toStrictEqual(whole)
    expect(read({ type: "pcm", rate: 24_000 }, wav.subarray(44), cuts)).toStrictEqual({ ...whole, rate: 24_000 })
  })

  it.each([0, 0x7fff_f000, 0xffff_ffff])("of a WAVE file goes on to its end, whose length says %d", (length) => {
    const lying = wav.slice()
    new DataView(lying.buffer).setUint32(40, length, true)
    expect(read({ type: "wav" }, lying, [333])).toStrictEqual(whole)
  })

  it("is found behind chunks of any length", () => {
    const list = new Uint8Array([...new TextEncoder().encode("LIST"), 5, 0, 0, 0, 1, 2, 3, 4, 5, 0])
    const long = new Uint8Array([...wav.subarray(0, 36), ...list, ...wav.subarray(36)])
    expect(read({ type: "wav" }, long, [7])).toStrictEqual(whole)
  })

  it("of two channels is their mean", () => {
    const stereo = new Uint8Array([...Wav.header({ sampleRate: 8000, channels: 2 }, 8), 100, 0, 44, 1, 0, 0, 2, 0])
    expect(read({ type: "wav" }, stereo, [5])).toStrictEqual({ rate: 8000, heard: [200, 1] })
  })

  it("that is no WAVE file of 16 bits is refused", () => {
    const eight = wav.slice()
    eight[34] = 8
    const refused = [
      new TextEncoder().encode("<html>an error page</html>"),
      eight,
      new Uint8Array([...wav.subarray(0, 12), ...wav.subarray(36)]),
      new Uint8Array([...wav.subarray(0, 12), ...Array.from({ length: 70_000 }, () => 0)])
    ]
    for (const bytes of refused) expect(read({ type: "wav" }, bytes, [1000])).toBe("unsupported_format")
  })

  it.each([[1], [3999], [192_001]])("refuses %i Hz, which no sound has", (sampleRate) => {
    expect(read({ type: "wav" }, Wav.write({ sampleRate, samples }), [1000])).toBe("unsupported_format")
  })
})
