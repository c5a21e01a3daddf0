import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Increments from "../../../src/domain/price/Increments.ts"
import * as Money from "../../../src/domain/Money.ts"

const upTo = (maximum: number, minimum = 0) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const Price = Schema.Struct({
  microUsdPerMinute: upTo(100_000_000),
  increments: Schema.Struct({
    firstSecs: upTo(Increments.mostSecs, 1),
    stepSecs: upTo(Increments.mostSecs, 1),
    connectionFeeMicroUsd: upTo(100_000_000),
    minimumMicroUsd: upTo(100_000_000)
  })
})
/** A week, which is longer than any call. */
const Ms = upTo(7 * 86_400_000)

const price = (increments: string, microUsdPerMinute: number, connectionFeeMicroUsd = 0, minimumMicroUsd = 0) => {
  const [firstSecs = 0, stepSecs = 0] = increments.split("/").map(Number)
  return { microUsdPerMinute, increments: { firstSecs, stepSecs, connectionFeeMicroUsd, minimumMicroUsd } }
}
const cost = (of: Increments.Price, ms: number) => Increments.microUsd(of, Increments.started(of, ms))

describe("Increments (guide/money.md#increments)", () => {
  it.each([
    ["60/60", 1, 60, 10_000],
    ["60/60", 60_000, 60, 10_000],
    ["60/60", 60_001, 120, 20_000],
    ["30/6", 0, 0, 0],
    ["30/6", 1, 30, 5_000],
    ["30/6", 30_001, 36, 6_000],
    ["6/6", 7_000, 12, 2_000],
    ["1/1", 7_000, 7, 1_167],
    ["1/1", 7_001, 8, 1_334],
    ["300/60", 10_000, 300, 50_000]
  ] as const)("%s: %s ms are billed as %s s, for %s micro-USD at 10,000 a minute", (increments, ms, secs, micro) => {
    const of = price(increments, 10_000)
    expect([Increments.secsOf(of, Increments.started(of, ms)), cost(of, ms)]).toStrictEqual([secs, micro])
  })

  it("adds the connection fee once, and asks for the minimum where that is more", () => {
    expect([0, 1, 60_001].map((ms) => cost(price("60/60", 1_000, 5_000), ms))).toStrictEqual([0, 6_000, 7_000])
    expect([1, 59_000, 61_000].map((ms) => cost(price("1/1", 6_000, 0, 6_000), ms))).toStrictEqual([
      6_000, 6_000, 6_100
    ])
    expect(cost(price("60/60", 0, 0, 1), 1)).toBe(1)
    expect(Increments.isFree(price("1/1", 0))).toBe(true)
    expect(Increments.isFree(price("1/1", 0, 1))).toBe(false)
  })

  it.prop("without increments each started minute counts, as ever", { ms: Ms, rate: upTo(100_000_000) }, (given) => {
    const of = { microUsdPerMinute: given.rate }
    expect(Increments.started(of, given.ms)).toBe(Money.startedMinutes(given.ms))
    expect(cost(of, given.ms)).toBe(Money.startedMinutes(given.ms) * given.rate)
  })

  it.prop(
    "the price is exact: whole micro-USD, never below the minimum, never less for longer, and all time is billed",
    { price: Price, ms: Ms, more: Ms },
    ({ more, ms, price: of }) => {
      const { connectionFeeMicroUsd, firstSecs, minimumMicroUsd, stepSecs } = of.increments
      const [count, micro] = [Increments.started(of, ms), cost(of, ms)]
      const secs = Increments.secsOf(of, count)
      expect(Number.isSafeInteger(micro)).toBe(true)
      expect(cost(of, ms + more)).toBeGreaterThanOrEqual(micro)
      if (ms === 0) return expect([count, micro]).toStrictEqual([0, 0])
      expect(micro).toBeGreaterThanOrEqual(minimumMicroUsd)
      expect(secs * 1_000).toBeGreaterThanOrEqual(ms)
      expect(secs === firstSecs || secs - stepSecs < ms / 1_000).toBe(true)
      // The same in whole numbers of any size.
      const exact = BigInt(of.microUsdPerMinute) * BigInt(secs) + 60n * BigInt(connectionFeeMicroUsd)
      const rounded = (exact + 59n) / 60n
      expect(BigInt(micro)).toBe(rounded > BigInt(minimumMicroUsd) ? rounded : BigInt(minimumMicroUsd))
    },
    { arbitrary: { runs: 500 } }
  )

  it.prop(
    "what is reserved for minutes lasts so long, and costs no more than the increments that do",
    { price: Price, minutes: upTo(10_000, 1) },
    ({ minutes, price: of }) => {
      const count = Increments.ofMinutes(of, minutes)
      expect(Increments.secsOf(of, count)).toBeGreaterThanOrEqual(minutes * 60)
      expect(Increments.microUsd(of, count)).toBe(Increments.microUsd(of, Increments.ofSecs(of, minutes * 60)))
    },
    { arbitrary: { runs: 500 } }
  )

  it("knows the fault of increments that are none", () => {
    expect(Increments.fault(Increments.byTheMinute, 10)).toBeNull()
    for (const wrong of [{ firstSecs: 0 }, { stepSecs: 0.5 }, { stepSecs: 3_601 }, { minimumMicroUsd: 11 }])
      expect(Increments.fault({ ...Increments.byTheMinute, ...wrong }, 10)).toBeTypeOf("string")
  })
})
