import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as EModel from "../../../src/protocol/rtp/EModel.ts"

/** G.711 with the concealment of its appendix I, and without any, ITU-T G.113 table I.3. */
const concealed = { ie: 0, bpl: 25.1 }
const plain = { ie: 0, bpl: 4.3 }
const clean = { oneWayDelayMs: 0, loss: 0 }
const of = (minimum: number, maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum, maximum }))

describe("The E-model", () => {
  it("rates an undisturbed path 93.2, an opinion of 4.41, ITU-T G.107 clause 7.7", () => {
    expect(EModel.rating(plain, clean)).closeTo(93.2, 0.05)
    expect(EModel.opinion(EModel.rating(plain, clean))).closeTo(4.41, 0.005)
  })

  it.each([
    [90, 4.34],
    [80, 4.03],
    [70, 3.6],
    [60, 3.1],
    [50, 2.58]
  ])("takes a rating of %i for an opinion of %f, ITU-T G.107 table B.1", (rating, opinion) => {
    expect(EModel.opinion(rating)).closeTo(opinion, 0.006)
  })

  it.each([
    [concealed, 0.01, 3.64],
    [concealed, 0.05, 15.78],
    [plain, 0.01, 17.92],
    [plain, 0.05, 51.08]
  ])("takes by equation 7-29 for %o at a loss of %f as much as %f", (codec, loss, impairment) => {
    expect(EModel.rating(codec, clean) - EModel.rating(codec, { ...clean, loss })).closeTo(impairment, 0.01)
  })

  it("takes more for losses in bursts", () => {
    const path = { oneWayDelayMs: 50, loss: 0.05 }
    expect(EModel.rating(concealed, { ...path, burstRatio: 2 })).toBeLessThan(EModel.rating(concealed, path))
  })

  it.each([
    [100, 0],
    [200, 25 * (2 ** (1 / 6) - 3 * (1 + 3 ** -6) ** (1 / 6) + 2)],
    [400, 25 * (65 ** (1 / 6) - 3 * (1 + (2 / 3) ** 6) ** (1 / 6) + 2)]
  ])("takes for %i ms at least the delay impairment of equation 7-27", (oneWayDelayMs, impairment) => {
    const lost = 93.2 - EModel.rating(plain, { oneWayDelayMs, loss: 0 })
    expect(lost).toBeGreaterThan(impairment)
    // Echo at the default losses adds a little with the delay.
    expect(lost).toBeLessThan(impairment + 8)
  })

  it.prop(
    "never rates more loss or more delay better, and keeps to its scales",
    [of(0, 1), of(0, 1), of(0, 1000), of(0, 1000)],
    ([a, b, c, d]) => {
      const [less, more] = [Math.min(a, b), Math.max(a, b)]
      const [sooner, later] = [Math.min(c, d), Math.max(c, d)]
      const good = EModel.rating(plain, { loss: less, oneWayDelayMs: sooner })
      const bad = EModel.rating(plain, { loss: more, oneWayDelayMs: later })
      expect(bad).toBeLessThanOrEqual(good + 0.2)
      expect(bad).toBeGreaterThanOrEqual(0)
      expect(EModel.opinion(bad)).toBeGreaterThanOrEqual(1)
      expect(EModel.opinion(good)).toBeLessThanOrEqual(4.5)
    }
  )
})
