import { describe, expect, it } from "@effect/vitest"
import * as Account from "../../../src/money/account/AccountMachine.ts"
import * as Lives from "../../../src/money/account/Lives.ts"
import type { Purpose } from "../../../src/money/account/Purpose.ts"
import * as Ids from "../../support/Ids.ts"

const context = { now: Date.UTC(2026, 10, 20, 12), seed: "s" }
const account = (tally: Partial<Account.Tally>): Account.AccountState => ({
  settings: Account.opened(Ids.tenant("t")),
  tally: {
    balanceCents: 500,
    testMoneyCents: 0,
    creditLimitCents: 0,
    rechargeFailed: false,
    planCallLimit: null,
    before: null,
    day: "2026-11-20",
    daySpentCents: 0,
    monthSpentCents: 0,
    live: Lives.empty,
    ...tally
  }
})
const ask = (state: Account.AccountState, request: Omit<Account.Request, "offers"> & { readonly cents: number }) => {
  const { cents, ...rest } = request
  const input = { type: "reserve", id: Ids.call("new"), offers: [cents], ...rest } as const
  return Account.step(state, input, context)
}
const outcome = (...args: Parameters<typeof ask>) => {
  const step = ask(...args)
  return step.type === "rejected" ? step.error.code : "reserved"
}
const purposes: ReadonlyArray<Purpose> = ["outbound", "answer", "transfer", "renewal", "order"]

describe("money of the development processor, guide/money.md#the-development-processor", () => {
  const rich = account({ balanceCents: 100_000, testMoneyCents: 100_000 })

  it.each(purposes)("pays for nothing by itself: %s", (purpose) => {
    const code = purpose === "order" ? "insufficient_balance" : "balance_insufficient"
    expect(outcome(rich, { purpose, cents: 1 })).toBe(code)
    expect(outcome(account({ balanceCents: 100_000 }), { purpose, cents: 1 })).toBe("reserved")
  })

  it.each(purposes)("pays for calls with simulated phones: %s", (purpose) =>
    expect(outcome(rich, { purpose, cents: 1, takesTestMoney: true })).toBe("reserved")
  )

  it("says so where it is refused, and only where real money was missing because of it", () => {
    const message = (state: Account.AccountState, cents: number) => {
      const step = ask(state, { purpose: "outbound", cents })
      return step.type === "rejected" ? step.error.message : ""
    }
    expect(message(rich, 1)).toContain("test money")
    expect(message(rich, 1)).toContain("simulated phones only")
    expect(message(rich, 200_000)).not.toContain("test money")
    expect(message(account({ balanceCents: 0 }), 1)).not.toContain("test money")
  })

  it("leaves the rest of the balance, and the credit limit, to everything", () => {
    const mixed = account({ balanceCents: 1_010, testMoneyCents: 1_000 })
    expect(outcome(mixed, { purpose: "outbound", cents: 10 })).toBe("reserved")
    expect(outcome(mixed, { purpose: "outbound", cents: 11 })).toBe("balance_insufficient")
    expect(outcome({ ...rich, tally: { ...rich.tally, creditLimitCents: 5 } }, { purpose: "renewal", cents: 5 })).toBe(
      "reserved"
    )
  })

  it("is spent first by a call that takes it, and not by another", () => {
    const mixed = account({ balanceCents: 120, testMoneyCents: 100 })
    const ended = (takesTestMoney: boolean, chargedCents: number) => {
      const id = Ids.call("new")
      const reserved = ask(mixed, { purpose: "outbound", cents: 10, ...(takesTestMoney ? { takesTestMoney } : {}) })
      expect.assert(reserved.type === "accepted")
      const told = { type: "told", from: id, n: 1, body: { type: "ended", chargedCents } } as const
      const over = Account.step(reserved.state, told, context)
      expect.assert(over.type === "accepted")
      const { balanceCents, testMoneyCents } = over.state.tally
      return [balanceCents, testMoneyCents]
    }
    expect(ended(true, 10)).toEqual([110, 90])
    expect(ended(true, 110)).toEqual([10, 0])
    expect(ended(false, 10)).toEqual([110, 100])
  })
})
