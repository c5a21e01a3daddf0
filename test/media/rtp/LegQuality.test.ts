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
  jitterMeanMs: 3,
  jitterMaxMs: 9,
  roundTripMs: 60,
  reported: null,
  bufferMs: 40
}
const opinion = (change: Partial<LegQuality.Measured>) => LegQuality.of({ ...measured, ...change }).mos ?? Number.NaN

describe("How a leg sounds", () => {
  it("is excellent on a clean path, and tells all that was measured", () => {
    const { bufferMs: _, ...told } = measured
    expect(LegQuality.of(measured)).toEqual({ ...told, mos: expect.closeTo(4.37, 1), bpl: 25.1 })
  })

  it("is worse by what was lost, by what came too late, and by delay", () => {
    const clean = opinion({})
    expect(opinion({ packetsReceived: 950, packetsLost: 50 })).toBeLessThan(clean - 0.4)
    expect(opinion({ packetsLate: 50 })).toBeCloseTo(opinion({ packetsReceived: 950, packetsLost: 50 }), 5)
    expect(opinion({ roundTripMs: 800 })).toBeLessThan(clean - 0.5)
    expect(opinion({ packetsReceived: 1, packetsLost: 5000 })).toBeLessThan(1.5)
  })

  it("is what the peer reports of the stream that it gets, by the same rule", () => {
    const jitter = { jitterMs: 3, jitterMeanMs: 4, jitterMaxMs: 7 }
    const reported = (packetsLost: number, packetsSent = 1000) =>
      LegQuality.of({ ...measured, packetsSent, reported: { ...jitter, packetsLost } }).reported
    expect(reported(50)?.mos).toBeCloseTo(opinion({ packetsReceived: 950, packetsLost: 50 }), 5)
    expect(reported(0)).toEqual({ ...jitter, packetsLost: 0, mos: expect.closeTo(opinion({}), 5), bpl: 25.1 })
    expect(reported(9999)?.mos).toBeLessThan(1.5)
    expect(reported(0, 0)?.mos).toBeNull()
  })

  // By ITU-T G.107 and G.113 appendix I: R is 93.2 - 95 * 3 / (3 + 25.1), less what echo takes in 60 ms.
  it.each(["PCMU", "PCMA", "L16", "G722"] as const)(
    "counts losses as a decoder with concealment makes them heard, in %s",
    (codec) => {
      const lossy = LegQuality.of({ ...measured, codec, roundTripMs: null, packetsReceived: 970, packetsLost: 30 })
      expect(lossy.mos).toBeCloseTo(4.09, 1)
      expect(lossy.bpl).toBe(25.1)
    }
  )

  it("is not known of a leg that nothing came from", () => {
    expect(LegQuality.of({ ...measured, packetsReceived: 0 }).mos).toBeNull()
  })
})
