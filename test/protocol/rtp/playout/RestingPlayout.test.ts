import { describe, expect, it } from "@effect/vitest"
import * as RestingPlayout from "../../../../src/protocol/rtp/playout/RestingPlayout.ts"

/** A packet every 20 ms of a stream at 8000 Hz, each this much later than the one before; 10 s of them. */
const hear = (playout: number, leadMs: number, driftMs = 0) => {
  const resting = RestingPlayout.make(8000)
  resting.start(playout, 1000)
  let now = 1000
  for (let i = 0; i < 500; i++, now += 20 + driftMs) resting.arrived((playout + (leadMs + 20 * i) * 8) >>> 0, 160, now)
  return { lead: ((((playout + (leadMs + 20 * 500) * 8) >>> 0) - resting.at(now)) | 0) / 8, now, resting }
}

describe("The playout point of a stream that nobody hears", () => {
  it.each([0, 0xffff_ff00])("goes on by the clock, from %i", (playout) => {
    const { resting } = hear(playout, 40)
    expect(resting.at(1000)).toBe(playout)
    expect(resting.at(3000)).toBe((playout + 16_000) >>> 0)
    expect(hear(playout, 40).lead).toBe(40)
  })

  it("is where packets of the last seconds came in time for it, when they had come too late", () => {
    expect(hear(8000, -100).lead).toBe(20)
    expect(hear(8000, 40, 0.2).lead).toBeGreaterThan(0)
    expect(hear(8000, 40, 0.2).lead).toBeLessThan(30)
  })

  it("is not far behind them when all came early", () => {
    expect(hear(8000, 400).lead).toBe(40)
    expect(hear(8000, 40, -0.2).lead).toBeLessThan(70)
  })

  it("takes a second of sound at once, then what time allows, and an hour of a fast clock", () => {
    const resting = RestingPlayout.make(8000)
    resting.start(0, 0)
    const taken = (many: number, now: number) =>
      Array.from({ length: many }, (_, i) => resting.arrived(i * 160, 160, now)).filter(Boolean).length
    expect(taken(1000, 0)).toBe(50)
    expect(taken(1000, 100)).toBe(5)
    resting.start(0, 0)
    for (let i = 0; i < 180_000; i++) expect(resting.arrived((i * 160) >>> 0, 160, i * 19.9)).toBe(true)
  })
})
