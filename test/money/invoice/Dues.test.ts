import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Dues from "../../../src/money/invoice/Dues.ts"

const cents = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 }))
const Unpaid = Schema.Struct({ isOpen: Schema.Boolean, mostCents: cents })

describe("what is due of unpaid invoices (guide/money.md#invoices)", () => {
  it.each([
    [900, [200, 300, 400]],
    [750, [50, 300, 400]],
    [650, [0, 250, 400]],
    [1, [0, 0, 1]],
    [0, [0, 0, 0]],
    [5_000, [200, 300, 400]]
  ])("is the debt of %i, that of the newest first", (debt, dues) => {
    const open = [200, 300, 400].map((mostCents) => ({ isOpen: true, mostCents }))
    expect(Dues.of(debt, open)).toEqual(dues)
  })

  it("is that of invoices that were given up before that of the open ones", () => {
    const invoices = [
      { isOpen: false, mostCents: 100 },
      { isOpen: true, mostCents: 200 },
      { isOpen: false, mostCents: 50 },
      { isOpen: true, mostCents: 300 }
    ]
    expect(Dues.of(650, invoices)).toEqual([100, 200, 50, 300])
    expect(Dues.of(400, invoices)).toEqual([100, 0, 50, 250])
    expect(Dues.of(120, invoices)).toEqual([70, 0, 50, 0])
  })

  it.prop(
    "adds up to the debt, as far as the invoices go, and a payment makes none of them grow",
    { debt: cents, paid: cents, invoices: Schema.Array(Unpaid) },
    ({ debt, invoices, paid }) => {
      const sum = (all: ReadonlyArray<number>) => all.reduce((total, each) => total + each, 0)
      const before = Dues.of(debt, invoices)
      expect(sum(before)).toBe(Math.min(debt, sum(invoices.map(({ mostCents }) => mostCents))))
      const after = Dues.of(Math.max(0, debt - paid), invoices)
      for (const [index, due] of after.entries()) expect(due).toBeLessThanOrEqual(before[index] ?? 0)
    }
  )
})
