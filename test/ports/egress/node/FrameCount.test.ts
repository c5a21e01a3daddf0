import { describe, expect, it } from "@effect/vitest"
import * as FrameCount from "../../../../src/ports/egress/node/FrameCount.ts"

const longMessage = 16 * 1024

const frame = (first: number, length: number): Buffer => {
  const head =
    length < 126
      ? Buffer.of(first, length)
      : length < 65_536
        ? Buffer.of(first, 126, length >> 8, length & 255)
        : Buffer.of(first, 127, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 255, length & 255)
  return Buffer.concat([head, Buffer.alloc(length, 0xff)])
}

/** Hands the octets over in portions, of pieces of a size. */
const portions = (octets: Buffer, size: number, mostCost: number): ReadonlyArray<FrameCount.Portion> => {
  const count = FrameCount.make(longMessage)
  const found: Array<FrameCount.Portion> = []
  for (let at = 0; at < octets.length;) {
    const portion = count.next(octets.subarray(at, at + size), mostCost)
    if (portion.octets === 0) throw new Error("a portion is empty")
    found.push(portion)
    at += portion.octets
  }
  return found
}
const sum = (of: ReadonlyArray<number>): number => of.reduce((total, value) => total + value, 0)

describe("The portions of a server's octets (RFC 6455 section 5.2)", () => {
  const frames = [
    frame(0x81, 0),
    frame(0x81, 125),
    frame(0x01, 126),
    frame(0x89, 5),
    frame(0x80, 65_535),
    frame(0x82, 65_536),
    frame(0x8a, 0),
    frame(0x82, 200_000)
  ]

  it.each([1, 7, 1_000, 1_000_000])("count every frame once, however octets come: %d at a time", (size) => {
    const found = portions(Buffer.concat(frames), size, 8_192)
    expect(sum(found.map(({ frames: count }) => count))).toBe(frames.length)
    expect(sum(found.map(({ octets }) => octets))).toBe(Buffer.concat(frames).length)
  })

  it("are bounded in octets and in frames, of which pings cost more", () => {
    const most = (first: number, length: number) => {
      const octets = Buffer.concat(Array.from({ length: 1_000 }, () => frame(first, length)))
      return portions(octets, octets.length, 8_192)
    }
    expect(Math.max(...most(0x00, 0).map(({ frames: count }) => count))).toBe(64)
    expect(Math.max(...most(0x89, 0).map(({ frames: count }) => count))).toBe(8)
    expect(Math.max(...most(0x82, 1_000).map(({ octets }) => octets))).toBeLessThan(8_192 + 1_000)
  })

  it("end with a long message, in one frame or many, so that its work comes before the next", () => {
    const many = [frame(0x01, 10_000), ...Array.from({ length: 10 }, () => frame(0x00, 1_000)), frame(0x80, 0)]
    const octets = Buffer.concat([...many, frame(0x81, 3)])
    const found = portions(octets, octets.length, 1_000_000)
    expect(found.map(({ octets: count }) => count)).toStrictEqual([Buffer.concat(many).length, 5])
  })
})
