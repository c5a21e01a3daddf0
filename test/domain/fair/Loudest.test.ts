import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Loudest from "../../../src/domain/fair/Loudest.ts"

describe("Who uses most", () => {
  it("is named with what was used in the minute that passes and the one before, the loudest first", () => {
    const loudest = Loudest.make()
    loudest.add("a", 5, 100_000)
    loudest.add("b", 7, 100_000)
    loudest.add("a", 5, 165_000)
    expect(loudest.top(5, 165_000)).toEqual([
      { holder: "a", times: 2, cost: 10 },
      { holder: "b", times: 1, cost: 7 }
    ])
    expect(loudest.top(1, 230_000)).toEqual([{ holder: "a", times: 1, cost: 5 }])
    expect(loudest.top(5, 500_000)).toEqual([])
  })

  it.prop(
    "is never forgotten for many who are quiet, and no more are remembered than there is room for",
    {
      uses: Schema.Array(
        Schema.Struct({
          holder: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 500 })),
          cost: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))
        })
      ).check(Schema.isMinLength(50), Schema.isMaxLength(300))
    },
    ({ uses }) => {
      const loudest = Loudest.make(10)
      for (const { cost, holder } of uses) {
        loudest.add("loud", 4, 0)
        loudest.add(`${holder}`, cost, 0)
        expect(loudest.size()).toBeLessThanOrEqual(10)
      }
      const [first] = loudest.top(1, 0)
      expect(first?.holder).toBe("loud")
      // The reported use is never less than the true one.
      expect(first?.cost).toBeGreaterThanOrEqual(4 * uses.length)
    },
    { arbitrary: { runs: 200 } }
  )
})
