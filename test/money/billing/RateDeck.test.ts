import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as TimeSlices from "../../../src/domain/time/TimeSlices.ts"
import * as RateDeck from "../../../src/money/billing/RateDeck.ts"

const deck = RateDeck.make([
  { direction: "outbound", prefix: "1", microUsdPerMinute: 5_000 },
  { direction: "outbound", prefix: "1202", microUsdPerMinute: 7_000 },
  { direction: "outbound", prefix: "4930", microUsdPerMinute: 0 },
  { direction: "inbound", prefix: "", microUsdPerMinute: 1_000 }
])

describe("the rate deck (guide/money.md#rates)", () => {
  it.each([
    ["outbound", "+12025550123", 7_000],
    ["outbound", "+12125550123", 5_000],
    ["outbound", "+49301234567", 0],
    ["outbound", "+4989123456", null],
    ["inbound", "+12025550123", 1_000],
    ["inbound", "anonymous", 1_000]
  ] as const)("%s %s costs %s micro-USD a minute", (direction, number, rate) => {
    expect(deck.rate(direction, number)?.microUsdPerMinute ?? null).toBe(rate)
  })

  it("costs the defaults when it is empty", () => {
    const empty = RateDeck.make([])
    expect([empty.rate("outbound", "+12025550123"), empty.rate("inbound", "+12025550123")]).toStrictEqual([
      { microUsdPerMinute: 10_000 },
      { microUsdPerMinute: 0 }
    ])
  })

  it.each(["+881612345678", "+870773111632", "+883510012345", "+19005550123", "+449098790000", "+979123456789"])(
    "has no price for %s when it is empty, because such a call costs more than a local one",
    (number) => {
      expect(RateDeck.make([]).rate("outbound", number)).toBe(null)
      const priced = RateDeck.make([{ direction: "outbound", prefix: "", microUsdPerMinute: 9 }])
      expect(priced.rate("outbound", number)).toStrictEqual({ microUsdPerMinute: 9 })
    }
  )

  it("names no price outside its rows, and none outbound where only inbound ones are priced", () => {
    const inbound = RateDeck.make([{ direction: "inbound", prefix: "1", microUsdPerMinute: 1_000 }])
    expect(inbound.rate("outbound", "+12025550123")).toBe(null)
    expect(inbound.rate("inbound", "+4930123456")).toStrictEqual({ microUsdPerMinute: 0 })
    const withDefault = RateDeck.make([{ direction: "outbound", prefix: "", microUsdPerMinute: 9 }])
    expect(withDefault.rate("outbound", "+4930123456")).toStrictEqual({ microUsdPerMinute: 9 })
  })

  const increments = { firstSecs: 30, stepSecs: 6, connectionFeeMicroUsd: 500, minimumMicroUsd: 0 }
  it("gives the increments of the row, and shows a row whose increments alone differ as changed", () => {
    const row = { direction: "outbound", prefix: "49", microUsdPerMinute: 600 } as const
    const priced = RateDeck.make([{ ...row, increments }]).rate("outbound", "+4930123456")
    expect(priced).toStrictEqual({ microUsdPerMinute: 600, increments })
    expect(TimeSlices.atOnce(RateDeck.difference([row], [{ ...row, increments }]))).toStrictEqual([
      { direction: "outbound", prefix: "49", from: 600, to: "600 30/6 fee 500" }
    ])
    expect(
      TimeSlices.atOnce(RateDeck.difference([{ ...row, increments }], [{ ...row, increments: { ...increments } }]))
    ).toEqual([])
  })

  const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
  it.prop(
    "a discount is exact, is rounded up, and never raises a price",
    { micro: upTo(100_000_000), hundredths: upTo(10_000) },
    ({ hundredths, micro }) => {
      const { microUsdPerMinute } = RateDeck.discounted({ microUsdPerMinute: micro }, hundredths)
      expect(BigInt(microUsdPerMinute)).toBe((BigInt(micro) * BigInt(10_000 - hundredths) + 9_999n) / 10_000n)
      expect(microUsdPerMinute).toBeLessThanOrEqual(micro)
    }
  )

  const Digits = Schema.String.check(Schema.isPattern(/^[0-9]{1,5}$/))
  it.prop(
    "gives the longest prefix that matches",
    { prefixes: Schema.Array(Digits), number: Digits },
    ({ number, prefixes }) => {
      const rates = [...new Set(prefixes)].map((prefix) => ({
        direction: "outbound" as const,
        prefix,
        microUsdPerMinute: prefix.length
      }))
      const longest = Math.max(
        0,
        ...prefixes.filter((prefix) => number.startsWith(prefix)).map((prefix) => prefix.length)
      )
      expect(RateDeck.make(rates).rate("outbound", `+${number}`)?.microUsdPerMinute ?? null).toBe(
        // No numbering plan has so few digits.
        longest > 0 ? longest : null
      )
    }
  )

  it("refuses a prefix twice, other than digits, and amounts that are none", () => {
    const rate = { direction: "outbound", prefix: "1", microUsdPerMinute: 1 } as const
    expect(TimeSlices.atOnce(RateDeck.fault([rate, { ...rate, direction: "inbound" }]))).toBeNull()
    for (const wrong of [
      [rate, rate],
      [{ ...rate, prefix: "+1" }],
      [{ ...rate, microUsdPerMinute: -1 }],
      [{ ...rate, microUsdPerMinute: 0.5 }],
      [{ ...rate, increments: { ...increments, stepSecs: 0 } }],
      [{ ...rate, increments: { ...increments, minimumMicroUsd: -1 } }]
    ])
      expect(TimeSlices.atOnce(RateDeck.fault(wrong))).toBeTypeOf("string")
  })
})
