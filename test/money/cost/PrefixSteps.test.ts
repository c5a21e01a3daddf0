import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as RateDeck from "../../../src/money/billing/RateDeck.ts"
import * as TimeSlices from "../../../src/domain/time/TimeSlices.ts"
import * as PrefixSteps from "../../../src/money/cost/PrefixSteps.ts"

/** There are few digits, so that prefixes contain each other, and follow each other at the end of a digit. */
const Digits = Schema.Array(Schema.Literals(["0", "1", "8", "9"]))
const Prefix = Digits.check(Schema.isMaxLength(15))

/** Looks a rate up as the database does: it takes the last point at or before the place. */
const found = ({ points, rates }: PrefixSteps.Steps, digits: string): number => {
  const place = PrefixSteps.placeOf(digits)
  const index = points.findLastIndex((point) => BigInt(point) <= place)
  return rates[index] ?? PrefixSteps.unknown
}

describe("A deck as steps along all numbers", () => {
  it.prop(
    "says of each number what its longest prefix says",
    { prefixes: Schema.Array(Prefix).check(Schema.isMaxLength(12)), numbers: Schema.Array(Digits) },
    ({ numbers, prefixes }) => {
      const once = [...new Set(prefixes.map((digits) => digits.join("")))]
      const rates = once.map((prefix, index) => ({ direction: "outbound" as const, prefix, microUsdPerMinute: index }))
      const steps = TimeSlices.atOnce(PrefixSteps.of(rates, "outbound"))
      const places = steps.points.map(BigInt)
      expect(places).toEqual([...new Set(places)].toSorted((one, other) => (one < other ? -1 : 1)))
      const deck = RateDeck.make(rates)
      const own = once.flatMap((prefix) => [prefix, `${prefix}0`, `${prefix}9`, prefix.slice(0, -1)])
      for (const number of [...numbers.map((digits) => digits.join("")), ...own])
        expect([number, found(steps, number)]).toEqual([
          number,
          deck.named("outbound", number)?.microUsdPerMinute ?? PrefixSteps.unknown
        ])
      const none = { points: [], rates: [], firsts: [], steps: [], fees: [], minimums: [] }
      expect(TimeSlices.atOnce(PrefixSteps.of(rates, "inbound"))).toEqual(none)
      // Without increments no step has any, and with one of them each step has its own.
      expect(steps.firsts).toEqual([])
      const increments = { firstSecs: 1, stepSecs: 2, connectionFeeMicroUsd: 3, minimumMicroUsd: 4 }
      const changed = rates.map((rate, index) => (index === 0 ? { ...rate, increments } : rate))
      const some = TimeSlices.atOnce(PrefixSteps.of(changed, "outbound"))
      const isOwn = some.rates.map((rate) => rate === 0)
      expect(some.firsts).toEqual(isOwn.includes(true) ? isOwn.map((own) => (own ? 1 : 60)) : [])
    },
    { arbitrary: { runs: 300 } }
  )
})
