import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Loudness from "../../../src/domain/fair/Loudness.ts"
import * as Random from "../../support/Random.ts"

describe("who is loud", () => {
  it("is told by the messages of this interval and the one before", () => {
    const loudness = Loudness.make({ intervalMs: 1_000, maxSources: 10 })
    for (let each = 0; each < 5; each++) loudness.note("a", 0)
    loudness.note("b", 500)
    expect(loudness.note("a", 1_000)).toBe(6)
    expect(loudness.loudest(1_000, 1)).toEqual([{ source: "a", messages: 6 }])
    expect(loudness.note("a", 2_000)).toBe(2)
    expect(loudness.note("a", 10_000)).toBe(1)
    expect(loudness.loudest(12_000, 10)).toEqual([])
  })

  it.prop(
    "stays known in a crowd of new sources, and no more are counted than there is room",
    { seed: Schema.Int },
    ({ seed }) => {
      const random = Random.make(seed)
      const loudness = Loudness.make({ intervalMs: 1_000_000, maxSources: 64 })
      let loud = 0
      for (let each = 0; each < 5_000; each++) {
        loud = random.below(8) === 0 ? loudness.note("loud", 0) : (loudness.note(`crowd ${each}`, 0), loud)
        expect(loudness.size()).toBeLessThanOrEqual(64)
      }
      expect(loudness.loudest(0, 1)[0]?.source).toBe("loud")
      expect(loud).toBeGreaterThan(4)
    }
  )
})
