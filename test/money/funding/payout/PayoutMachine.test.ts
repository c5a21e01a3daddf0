import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Id from "../../../../src/domain/Id.ts"
import * as Machine from "../../../../src/money/funding/payout/PayoutMachine.ts"

const id = (name: string) => Id.derive(name, "ledger")
const topUp = (name: string, leftCents: number, isClosed = false) => ({ attemptId: id(name), leftCents, isClosed })

describe("What goes back of a balance (guide/tenants.md#refund-of-the-balance)", () => {
  const facts: Machine.Facts = { balanceCents: 0, trialCents: 500, spentCents: 0, topUps: [] }
  const rows: ReadonlyArray<readonly [string, Partial<Machine.Facts>, ReadonlyArray<Machine.Refund>]> = [
    ["nothing of the trial credit", { balanceCents: 500, topUps: [topUp("a", 1_000)] }, []],
    [
      "all that was paid where nothing was spent",
      { balanceCents: 1_500, topUps: [topUp("a", 1_000)] },
      [{ attemptId: id("a"), cents: 1_000 }]
    ],
    [
      "all that was paid where the trial credit paid for what was spent",
      { balanceCents: 1_100, spentCents: 400, topUps: [topUp("a", 1_000)] },
      [{ attemptId: id("a"), cents: 1_000 }]
    ],
    [
      "the newest top-up first, then the one before it",
      { balanceCents: 2_500, spentCents: 1_000, topUps: [topUp("new", 2_000), topUp("old", 1_000)] },
      [
        { attemptId: id("new"), cents: 2_000 },
        { attemptId: id("old"), cents: 500 }
      ]
    ],
    [
      "what another card has yet, where one takes nothing",
      { balanceCents: 2_500, spentCents: 1_000, topUps: [topUp("new", 2_000, true), topUp("old", 1_000)] },
      [{ attemptId: id("old"), cents: 1_000 }]
    ],
    ["nothing below zero", { balanceCents: -300, spentCents: 1_000, topUps: [topUp("a", 1_000)] }, []],
    [
      "nothing where nothing is left of the top-ups",
      { balanceCents: 900, spentCents: 500, topUps: [topUp("a", 0)] },
      []
    ]
  ]
  for (const [what, some, expected] of rows)
    it(`is ${what}`, () => expect(Machine.refunds({ ...facts, ...some })).toEqual(expected))

  const Cents = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5_000 }))
  const Facts = Schema.Struct({
    balanceCents: Schema.Int.check(Schema.isBetween({ minimum: -2_000, maximum: 10_000 })),
    trialCents: Cents,
    spentCents: Schema.Int.check(Schema.isBetween({ minimum: -500, maximum: 8_000 })),
    topUps: Schema.Array(Schema.Struct({ leftCents: Cents, isClosed: Schema.Boolean })).check(Schema.isMaxLength(6))
  })
  it.prop(
    "never passes what is owed or what is left of a top-up, and asks each once",
    { given: Facts },
    ({ given }) => {
      const all = { ...given, topUps: given.topUps.map((of, n) => ({ ...of, attemptId: id(`t${n}`) })) }
      const refunds = Machine.refunds(all)
      const sum = refunds.reduce((cents, refund) => cents + refund.cents, 0)
      const open = all.topUps.reduce((cents, { isClosed, leftCents }) => cents + (isClosed ? 0 : leftCents), 0)
      expect(sum).toBe(Math.min(Machine.owedCents(all), open))
      expect(Machine.owedCents(all)).toBeLessThanOrEqual(Math.max(0, all.balanceCents))
      for (const { attemptId, cents } of refunds) {
        const of = all.topUps.find((one) => one.attemptId === attemptId)
        expect(of?.isClosed).toBe(false)
        expect(cents).toBeGreaterThan(0)
        expect(cents).toBeLessThanOrEqual(of?.leftCents ?? 0)
      }
      expect(new Set(refunds.map(({ attemptId }) => attemptId)).size).toBe(refunds.length)
      // After all of these refunds, none is left.
      const after = all.topUps.map((of) => ({
        ...of,
        leftCents: of.leftCents - (refunds.find(({ attemptId }) => attemptId === of.attemptId)?.cents ?? 0)
      }))
      expect(Machine.refunds({ ...all, balanceCents: all.balanceCents - sum, topUps: after })).toEqual([])
    }
  )
})
