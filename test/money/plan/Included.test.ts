import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Money from "../../../src/domain/Money.ts"
import * as Included from "../../../src/money/plan/Included.ts"

const whole = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
const Debit = Schema.Array(Schema.Struct({ quantity: whole(500), microUsd: whole(100_000) }))

describe("what a plan includes (guide/money.md#plans)", () => {
  it.prop(
    "is never taken beyond what there is, and debit and credit leave what the rest costs",
    { included: whole(1_000), debits: Schema.Array(Debit) },
    ({ debits, included }) => {
      let left = included
      for (const parts of debits) {
        const cents = Money.centsFromMicro(parts.reduce((sum, { microUsd, quantity }) => sum + microUsd * quantity, 0))
        const { backCents, taken } = Included.take(
          left,
          cents,
          parts.map(({ microUsd, quantity }) => ({
            quantity,
            restMicroUsd: (covered) => (quantity - covered) * microUsd
          }))
        )
        const priced = parts.reduce((sum, { microUsd, quantity }) => sum + (microUsd > 0 ? quantity : 0), 0)
        expect(taken).toBe(Math.min(left, priced))
        expect(backCents).toBeGreaterThanOrEqual(0)
        expect(backCents).toBeLessThanOrEqual(cents)
        if (taken === priced) expect(backCents).toBe(cents)
        if (taken === 0) expect(backCents).toBe(0)
        const [price, ...others] = new Set(parts.filter(({ quantity }) => quantity > 0).map(({ microUsd }) => microUsd))
        if (price !== undefined && others.length === 0 && price > 0)
          expect(cents - backCents).toBe(Money.centsFromMicro((priced - taken) * price))
        left -= taken
      }
      expect(left).toBeGreaterThanOrEqual(0)
    }
  )

  it.each([
    ["2026-01-31T10:00:00Z", ["2026-02-28T10:00:00.000Z", "2026-03-31T10:00:00.000Z", "2026-04-30T10:00:00.000Z"]],
    ["2026-11-15T23:59:59Z", ["2026-12-15T23:59:59.000Z", "2027-01-15T23:59:59.000Z", "2027-02-15T23:59:59.000Z"]],
    ["2027-12-31T00:00:00Z", ["2028-01-31T00:00:00.000Z", "2028-02-29T00:00:00.000Z", "2028-03-31T00:00:00.000Z"]]
  ])("has periods that begin on the day of %s, or on the last of a shorter month", (began, expected) => {
    const at = Date.parse(began)
    const found = expected.reduce<ReadonlyArray<number>>(
      (ends) => [...ends, Included.nextPeriod(at, ends.at(-1) ?? at)],
      []
    )
    expect(found.map((ms) => new Date(ms).toISOString())).toEqual(expected)
  })
})
