import { describe, expect, it } from "@effect/vitest"
import * as LegQuality from "../../../src/media/rtp/LegQuality.ts"

const measured: LegQuality.Measured = {
  codec: "PCMU",
  packetsSent: 1000,
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

  it("is what the peer reports of the stream that it gets, by the same rule", () => {
    const reported = (packetsLost: number, packetsSent = 1000) =>
      LegQuality.of({ ...measured, packetsSent, reported: { packetsLost, jitterMs: 3 } }).reported
    expect(reported(50)?.mos).toBeCloseTo(opinion({ packetsReceived: 950, packetsLost: 50 }), 5)
    expect(reported(0)).toEqual({ packetsLost: 0, jitterMs: 3, mos: expect.closeTo(opinion({}), 5) })
    expect(reported(9999)?.mos).toBeCloseTo(1, 5)
    expect(reported(0, 0)?.mos).toBeNull()
  })

  it("is not known of a leg that nothing came from", () => {
    expect(LegQuality.of({ ...measured, packetsReceived: 0 }).mos).toBeNull()
  })
})
