import { describe, expect, it } from "@effect/vitest"
import * as L16 from "../../../../src/protocol/audio/codec/L16.ts"

describe("L16", () => {
  const { decoder, encoder } = L16.codec(24_000)

  it("is the samples themselves, the higher octet first", () => {
    const out = new Uint8Array(12).fill(7)
    expect(encoder(null).encode(Int16Array.of(1, -2, 0x1234, -32_768), out, 2)).toBe(8)
    expect([...out]).toEqual([7, 7, 0, 1, 0xff, 0xfe, 0x12, 0x34, 0x80, 0, 7, 7])
  })

  it("comes back as it was", () => {
    const samples = Int16Array.from({ length: 480 }, (_, i) => ((i * 9973) << 16) >> 16)
    const octets = new Uint8Array(L16.codec(24_000).frameOctets)
    expect(encoder(null).encode(samples, octets, 0)).toBe(octets.length)
    const back = new Int16Array(480)
    expect(decoder().decode(octets, back)).toBe(480)
    expect(back).toEqual(samples)
  })

  it("has as many clock units as samples, and no half ones", () => {
    expect(decoder().duration(new Uint8Array(20), 4, 20)).toBe(8)
    expect(decoder().duration(new Uint8Array(20), 5, 20)).toBe(0)
  })
})
