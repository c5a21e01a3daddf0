import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as G711 from "../../../../src/protocol/audio/codec/G711.ts"
import * as Aiff from "../../../../src/protocol/audio/file/Aiff.ts"
import { hostile } from "../../rtp/RandomBytes.ts"

const be = (value: number, width: number) =>
  Array.from({ length: width }, (_, i) => (value >>> (8 * (width - 1 - i))) & 255)
const text = (characters: string) => [...new TextEncoder().encode(characters)]
const chunk = (id: string, body: ReadonlyArray<number>) => [
  ...text(id),
  ...be(body.length, 4),
  ...body,
  ...(body.length % 2 === 1 ? [0] : [])
]
const form = (type: string, ...chunks: ReadonlyArray<ReadonlyArray<number>>) => {
  const body = [...text(type), ...chunks.flat()]
  return Uint8Array.from([...text("FORM"), ...be(body.length, 4), ...body])
}
/** 8 kHz as a number of 80 bits. */
const rate = [0x40, 0x0b, 0xfa, 0, 0, 0, 0, 0, 0, 0]
const common = (channels: number, bits: number, compression?: string) =>
  chunk("COMM", [
    ...be(channels, 2),
    ...be(1, 4),
    ...be(bits, 2),
    ...rate,
    ...(compression === undefined ? [] : [...text(compression), 0, 0])
  ])
const sound = (body: ReadonlyArray<number>, offset = 0) =>
  chunk("SSND", [...be(offset, 4), ...be(0, 4), ...Array.from({ length: offset }, () => 7), ...body])
const read = (bytes: Uint8Array) =>
  Result.map(Aiff.open(bytes), ({ length, read, sampleRate }) => ({ sampleRate, samples: [...read(0, length)] }))

describe("AIFF files", () => {
  it.each([
    ["8 bits", form("AIFF", common(1, 8), sound([0x80, 0, 0x7f])), [-32_768, 0, 32_512]],
    ["12 bits in two octets", form("AIFF", common(1, 12), sound([0x12, 0x30])), [0x1230]],
    ["16 bits", form("AIFF", common(1, 16), sound([0, 5, 0xff, 0xff])), [5, -1]],
    ["24 bits", form("AIFF", common(1, 24), sound([0, 5, 9])), [5]],
    ["32 bits", form("AIFF", common(1, 32), sound([0, 5, 9, 9])), [5]],
    ["the mean of two channels", form("AIFF", common(2, 16), sound([0, 100, 1, 44])), [200]],
    ["little-endian samples", form("AIFC", common(1, 16, "sowt"), sound([5, 0])), [5]],
    ["big-endian samples of AIFF-C", form("AIFC", common(1, 16, "NONE"), sound([0, 5])), [5]],
    ["floating point", form("AIFC", common(1, 32, "fl32"), sound([0x3f, 0, 0, 0])), [16_384]],
    ["mu-law", form("AIFC", common(1, 16, "ulaw"), sound([0, 0xff])), [...G711.decode("PCMU", Uint8Array.of(0, 0xff))]],
    ["A-law", form("AIFC", common(1, 16, "alaw"), sound([0, 0xd5])), [...G711.decode("PCMA", Uint8Array.of(0, 0xd5))]],
    ["sound before its description", form("AIFF", sound([0, 5]), chunk("NAME", text("odd")), common(1, 16)), [5]],
    ["sound that is offset", form("AIFF", common(1, 16), sound([0, 5], 4)), [5]]
  ] as const)("reads %s", (_, bytes, samples) => {
    expect(read(bytes)).toStrictEqual(Result.succeed({ sampleRate: 8000, samples: [...samples] }))
  })

  it.each([
    ["unsupported_format", new Uint8Array(0)],
    ["unsupported_format", form("AIFC", common(1, 16, "ima4"), sound([0, 5]))],
    ["unsupported_format", form("AIFF", sound([0, 5]))],
    ["unsupported_format", form("AIFF", common(0, 16), sound([0, 5]))],
    ["empty", form("AIFF", common(1, 16))],
    ["empty", form("AIFF", common(1, 16), sound([]))],
    ["empty", form("AIFF", common(1, 16), chunk("SSND", [...be(0xffff, 4), ...be(0, 4)]))]
  ] as const)("refuses as %s", (reason, bytes) => expect(read(bytes)).toStrictEqual(Result.fail(reason)))

  it("never throws for octets that break off or are random", () => {
    const bytes = form("AIFC", common(2, 16, "sowt"), sound([5, 0, 6, 0]))
    for (let length = 0; length <= bytes.length; length++) read(bytes.subarray(0, length))
    for (const random of hostile(200, 100, [bytes])) {
      read(random)
      read(Uint8Array.from([...bytes.subarray(0, 12), ...random]))
    }
  })
})
