import { describe, expect, it } from "@effect/vitest"
import * as LegQuality from "../../../src/media/rtp/LegQuality.ts"

const measured: LegQuality.Measured = {
  codec: "PCMU",
  packetsReceived: 1000,
  packetsLost: 0,
  packetsLate: 0,
  framesConcealed: 0,
  jitterMs: 2,
  roundTripMs: 60,
  reported: null,
  bufferMs: 40
}
const opinion = (change: Partial<LegQuality.Measured>) => LegQuality.of({ ...measured, ...change }).mos ?? Number.NaN

describe("How a leg sounds", () => {
  it("is excellent on a clean path, and tells all that was measured", () => {
    const { bufferMs: _, ...told } = measured
    expect(LegQuality.of(measured)).toEqual({ ...told, mos: expect.closeTo(4.37, 1) })
  })

  it("is worse by what was lost, by what came too late, and by delay", () => {
    const clean = opinion({})
    expect(opinion({ packetsReceived: 950, packetsLost: 50 })).toBeLessThan(clean - 1)
    expect(opinion({ packetsLate: 50 })).toBeCloseTo(opinion({ packetsReceived: 950, packetsLost: 50 }), 5)
    expect(opinion({ roundTripMs: 800 })).toBeLessThan(clean - 0.5)
    expect(opinion({ packetsReceived: 1, packetsLost: 5000 })).toBeCloseTo(1, 5)
  })

  it("is not known of a leg that nothing came from", () => {
    expect(LegQuality.of({ ...measured, packetsReceived: 0 }).mos).toBeNull()
  })
})
