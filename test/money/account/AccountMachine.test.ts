import { describe, expect, it } from "@effect/vitest"
import * as Account from "../../../src/money/account/AccountMachine.ts"
import * as Lives from "../../../src/money/account/Lives.ts"
import * as Purpose from "../../../src/money/account/Purpose.ts"
import type { CallId } from "../../../src/domain/Id.ts"
import * as Ids from "../../support/Ids.ts"

const noon = Date.UTC(2026, 10, 20, 12)
const context = { now: noon, seed: "s" }
const account = (
  tally: Partial<Account.Tally> = {},
  settings: Partial<Account.Settings> = {}
): Account.AccountState => ({
  settings: { ...Account.opened(Ids.tenant("t")), ...settings },
  tally: {
    balanceCents: 500,
    creditLimitCents: 0,
    rechargeFailed: false,
    planCallLimit: null,
    testMoneyCents: 0,
    before: null,
    day: "2026-11-20",
    daySpentCents: 0,
    monthSpentCents: 0,
    live: Lives.empty,
    ...tally
  }
})
const live = { places: 1, reservedCents: 1, heard: 0 } as const
const calls = (count: number) =>
  Lives.from(Array.from({ length: count }, (_, index) => [Ids.call(`call ${index}`), live] as const))
/** The outcome of a request: its error code, or the cents reserved. */
const reserve = (
  state: Account.AccountState,
  purpose: Purpose.Purpose,
  offers: readonly [number, ...ReadonlyArray<number>] = [1],
  now = noon,
  id = Ids.call("new")
) => {
  const outcome = Account.step(state, { type: "reserve", id, purpose, offers }, { ...context, now })
  if (outcome.type === "rejected") return outcome.error.code
  expect.assert(outcome.type === "accepted")
  return Lives.get(outcome.state.tally.live, id)?.reservedCents
}
const admit = (state: Account.AccountState, now = noon) => {
  const reserved = reserve(state, "outbound", [1], now)
  return reserved === 1 ? "accepted" : reserved
}
const quota = (fields: Partial<Account.Quota>) => ({ quota: { ...Account.defaultQuota, ...fields } })

describe("Admission, guide/money.md#admission", () => {
  it("an account with money and room admits", () => expect(admit(account())).toBe("accepted"))
  it("balance plus credit limit must be above zero", () => {
    expect(admit(account({ balanceCents: 0 }))).toBe("balance_insufficient")
    expect(admit(account({ balanceCents: -100, creditLimitCents: 100 }))).toBe("balance_insufficient")
    expect(admit(account({ balanceCents: -99, creditLimitCents: 100 }))).toBe("accepted")
  })
  it("the daily cap refuses when it is spent, and a new UTC day forgets", () => {
    const spent = account({ daySpentCents: 10_000 })
    expect(admit(spent)).toBe("daily_spend_cap_exceeded")
    expect(admit(spent, Date.UTC(2026, 10, 21))).toBe("accepted")
  })
  it("a clock that goes ahead by a day or a month and comes back forgets nothing that was spent", () => {
    const step = (state: Account.AccountState, now: number, chargedCents: number) => {
      const id = Ids.call(`at ${now}`)
      const outcome = [
        { type: "reserve", id, purpose: "order", offers: [0] } as const,
        { type: "told", from: id, n: 1, body: { type: "ended", chargedCents } } as const
      ].reduce((before, input) => {
        const after = Account.step(before, input, { now, seed: "s" })
        expect.assert(after.type === "accepted")
        return after.state
      }, state)
      return outcome
    }
    for (const ahead of [Date.UTC(2026, 10, 21, 12), Date.UTC(2026, 11, 2)]) {
      const spent = account({ balanceCents: 1_000_000, daySpentCents: 6_000, monthSpentCents: 50_000 })
      const gone = step(spent, ahead, 3_000)
      expect(gone.tally.daySpentCents).toBe(3_000)
      const back = step(gone, noon, 500)
      expect([back.tally.day, back.tally.daySpentCents, back.tally.monthSpentCents]).toEqual([
        "2026-11-20",
        9_500,
        53_500
      ])
      expect(admit(step(back, noon + 1, 500))).toBe("daily_spend_cap_exceeded")
    }
  })
  it("the monthly cap refuses, also on the next day, and a new month forgets", () => {
    const spent = account({ monthSpentCents: 100_000 })
    expect(admit(spent, Date.UTC(2026, 10, 21))).toBe("monthly_spend_cap_exceeded")
    expect(admit(spent, Date.UTC(2026, 11, 1))).toBe("accepted")
  })
  it("a cap of null is no cap", () =>
    expect(
      admit(
        account(
          { daySpentCents: 1e9, monthSpentCents: 1e9 },
          quota({ dailySpendCapCents: null, monthlySpendCapCents: null })
        )
      )
    ).toBe("accepted"))
  it("the concurrent limit counts live calls", () => {
    expect(admit(account({ live: calls(9) }))).toBe("accepted")
    expect(admit(account({ live: calls(10) }))).toBe("concurrent_call_cap_exceeded")
  })
  it("money comes before caps, caps before the concurrent limit", () => {
    expect(admit(account({ balanceCents: 0, daySpentCents: 10_000, live: calls(10) }))).toBe("balance_insufficient")
    expect(admit(account({ daySpentCents: 10_000, live: calls(10) }))).toBe("daily_spend_cap_exceeded")
  })
  it("a suspended tenant is refused in both directions", () => {
    const suspended = account({}, { status: "suspended" })
    expect(admit(suspended)).toBe("tenant_suspended")
    expect(Account.closedTo(suspended)?.code).toBe("tenant_suspended")
    expect(Account.closedTo(account())).toBe(null)
  })
  it("an inbound call that costs nothing is answered without money or room", () =>
    expect(reserve(account({ balanceCents: -5, live: calls(99) }), "answer", [0])).toBe(0))
})

describe("Settings", () => {
  it("only the suspension that it names is lifted by a verification", () => {
    const fraud = account({}, { status: "suspended", suspensionReason: "fraud_review" })
    expect(Account.step(fraud, { type: "reactivated", ifReason: "email_unverified" }, context).type).toBe("unchanged")
    const unverified = account({}, { status: "suspended", suspensionReason: "email_unverified" })
    const lifted = Account.step(unverified, { type: "reactivated", ifReason: "email_unverified" }, context)
    expect(lifted.type === "accepted" && lifted.state.settings.status === "active" && lifted.effects.durable).toBe(true)
  })
  it.each([
    ["the operator, of an unverified one", "email_unverified", "operator", "operator"],
    ["a review of fraud, of an unverified one", "email_unverified", "fraud_review", "fraud_review"],
    ["a review of fraud, of what the operator suspended", "operator", "fraud_review", "fraud_review"],
    ["the sweep, of what the operator suspended", "operator", "email_unverified", null],
    ["the sweep, of a review of fraud", "fraud_review", "email_unverified", null],
    ["the same once more", "fraud_review", "fraud_review", null]
  ] as const)("a second suspension: %s", (_, suspensionReason, reason, becomes) => {
    const before = account({}, { status: "suspended", suspensionReason })
    const told = Account.step(before, { type: "suspended", reason }, context)
    expect(told.type === "accepted" ? told.state.settings.suspensionReason : null).toBe(becomes)
  })
  it("a closed account is not suspended", () =>
    expect(
      Account.step(account({}, { status: "closed" }), { type: "suspended", reason: "operator" }, context).type
    ).toBe("unchanged"))
  it("admissions are not written, settings are", () => {
    const admitted = Account.step(
      account(),
      { type: "reserve", id: Ids.call("new"), purpose: "outbound", offers: [1] },
      context
    )
    expect(admitted.type === "accepted" && !admitted.effects.durable && admitted.state.settings.seq === 1).toBe(true)
    const changed = Account.step(account(), { type: "quota_set", quota: { concurrentCallLimit: 3 } }, context)
    expect(changed.type === "accepted" && changed.effects.durable && changed.state.settings.seq === 2).toBe(true)
  })
})

describe("What is reserved, guide/money.md#reservations", () => {
  const holding = (cents: number) => Lives.from([[Ids.call("call 0"), { places: 1, reservedCents: cents, heard: 0 }]])
  it("the first minute must be covered, beside what others reserve", () => {
    expect(reserve(account({ balanceCents: 400 }), "outbound", [2000])).toBe("balance_insufficient")
    expect(reserve(account({ balanceCents: 2400, live: holding(400) }), "outbound", [2000])).toBe(2000)
    expect(reserve(account({ balanceCents: 2400, live: holding(401) }), "outbound", [2000])).toBe(
      "balance_insufficient"
    )
    expect(reserve(account({ balanceCents: 0, creditLimitCents: 2000 }), "outbound", [2000])).toBe(2000)
  })
  it("it fits under each cap, beside what is spent and what others reserve", () => {
    const rich = { balanceCents: 1e6, live: holding(300) }
    expect(reserve(account({ ...rich, daySpentCents: 9_000 }), "outbound", [700])).toBe(700)
    expect(reserve(account({ ...rich, daySpentCents: 9_000 }), "outbound", [701])).toBe("daily_spend_cap_exceeded")
    expect(reserve(account({ ...rich, monthSpentCents: 99_000 }), "outbound", [701])).toBe("monthly_spend_cap_exceeded")
  })
  it("a renewal and an answer need what they cost, a number order only the balance", () => {
    const tight = account({ balanceCents: 50, daySpentCents: 9_990 })
    for (const purpose of ["renewal", "answer"] as const) {
      expect(reserve(tight, purpose, [10])).toBe(10)
      expect(reserve(tight, purpose, [11])).toBe("daily_spend_cap_exceeded")
      expect(reserve(tight, purpose, [51])).toBe("balance_insufficient")
    }
    expect(reserve(tight, "order", [50])).toBe(50)
    expect(reserve(tight, "order", [51])).toBe("insufficient_balance")
  })
  it("a renewal whose least offer is refused gets the highest of the smaller amounts, by balance and by cap", () => {
    const renew = (state: Account.AccountState, smaller: ReadonlyArray<number>) => {
      const id = Ids.call("new")
      const input = { type: "reserve", id, purpose: "renewal", offers: [60, 120], smaller } as const
      const outcome = Account.step(state, input, context)
      return outcome.type === "accepted" ? outcome.state.tally.live.reservedCents : outcome.type
    }
    expect(renew(account({ balanceCents: 50 }), [10, 40, 50, 55])).toBe(50)
    expect(renew(account({ balanceCents: 5_000, daySpentCents: 9_955 }), [10, 40, 50, 55])).toBe(40)
    expect(renew(account({ balanceCents: 60 }), [10, 55])).toBe(60)
    expect(renew(account({ balanceCents: 9 }), [10, 55])).toBe("rejected")
    expect(renew(account({ balanceCents: 50 }), [])).toBe("rejected")
  })
  it("a transfer is admitted like a call: it takes a place more, which its call gives back", () => {
    const id = Ids.call("call 0")
    const transfer = (state: Account.AccountState, cents: number) =>
      Account.step(state, { type: "reserve", id, purpose: "transfer", offers: [cents], places: 2 }, context)
    const own = (limit: number, fields: Partial<Account.Tally> = {}) =>
      account({ balanceCents: 100, live: holding(10), ...fields }, quota({ concurrentCallLimit: limit }))
    const code = (outcome: ReturnType<typeof transfer>) =>
      outcome.type === "rejected" ? outcome.error.code : outcome.type
    expect(code(transfer(own(1), 20))).toBe("concurrent_call_cap_exceeded")
    expect(code(transfer(own(2), 101))).toBe("balance_insufficient")
    expect(code(transfer(own(2, { daySpentCents: 10_000 }), 20))).toBe("daily_spend_cap_exceeded")
    const admitted = transfer(own(2), 20)
    expect.assert(admitted.type === "accepted")
    expect([admitted.state.tally.live.places, admitted.state.tally.live.reservedCents]).toEqual([2, 20])
    expect(admit(admitted.state)).toBe("concurrent_call_cap_exceeded")
    const back = Account.step(admitted.state, { type: "holds", id, places: 1, reservedCents: 12 }, context)
    expect.assert(back.type === "accepted")
    expect(back.state.tally.live).toMatchObject({ places: 1, reservedCents: 12 })
    expect(admit(back.state)).toBe("accepted")
    const gone = { type: "holds", id: Ids.call("gone"), places: 1, reservedCents: 1 } as const
    expect(Account.step(back.state, gone, context).type).toBe("unchanged")
  })
  it("a renewal replaces what its call reserved, and takes no second place", () => {
    const own = account({ balanceCents: 100, live: holding(60) }, quota({ concurrentCallLimit: 1 }))
    expect(reserve(own, "renewal", [100], noon, Ids.call("call 0"))).toBe(100)
    expect(reserve(own, "renewal", [101], noon, Ids.call("call 0"))).toBe("balance_insufficient")
  })
  it("more than the least is given out of plenty only", () => {
    expect(reserve(account({ balanceCents: 1_000 }), "renewal", [10, 20, 30, 900])).toBe(30)
    expect(reserve(account({ balanceCents: 109 }), "renewal", [10, 20])).toBe(10)
    expect(reserve(account({ balanceCents: 110 }), "renewal", [10, 20])).toBe(20)
  })
  it("an order fills no place of the concurrent limit", () => {
    const outcome = Account.step(
      account(),
      { type: "reserve", id: Ids.call("order"), purpose: "order", offers: [5] },
      context
    )
    expect.assert(outcome.type === "accepted")
    expect(outcome.state.tally.live.places).toBe(0)
    expect(outcome.state.tally.live.reservedCents).toBe(5)
  })
  it("a suspended tenant's call may talk on", () =>
    expect(reserve(account({}, { status: "suspended" }), "renewal", [1])).toBe(1))
})

describe("What is told of a call", () => {
  const ended = (state: Account.AccountState, id: CallId, chargedCents = 7) =>
    Account.step(state, { type: "told", from: id, n: 1, body: { type: "ended", chargedCents } }, context)
  it("its end gives its place back and takes its charge, once", () => {
    const one = account({ live: calls(2) })
    const first = ended(one, Ids.call("call 1"))
    expect.assert(first.type === "accepted")
    const { tally } = first.state
    expect([tally.balanceCents, tally.daySpentCents, tally.monthSpentCents, Lives.ids(tally.live)]).toStrictEqual([
      493,
      7,
      7,
      ["call 0"]
    ])
    expect(ended(first.state, Ids.call("call 1")).type).toBe("unchanged")
  })
  it("a number that was heard changes nothing, and one that comes too early dies, for what is missing is in the rows", () => {
    const told = (heard: number, n: number) => () =>
      Account.step(
        account({ live: Lives.from([[Ids.call("call"), { ...live, heard }]]) }),
        { type: "told", from: Ids.call("call"), n, body: { type: "ended", chargedCents: 7 } },
        context
      ).type
    expect(told(2, 2)()).toBe("unchanged")
    expect(told(2, 3)()).toBe("accepted")
    expect(told(2, 4)).toThrow()
  })
  it("an admission that is abandoned gives its place back, and costs nothing", () => {
    const outcome = Account.step(account({ live: calls(1) }), { type: "abandoned", id: Ids.call("call 0") }, context)
    expect(outcome.type === "accepted" && outcome.state.tally.live.places === 0).toBe(true)
  })
  it("the ends of two calls come to the same in any order", () => {
    const [first, second] = [Ids.call("call 0"), Ids.call("call 1")]
    const end = (state: Account.AccountState, id: CallId) => {
      const outcome = ended(state, id, id === first ? 3 : 5)
      return outcome.type === "accepted" ? outcome.state : state
    }
    const two = account({ live: calls(2) })
    expect(end(end(two, first), second).tally).toStrictEqual(end(end(two, second), first).tally)
  })
})
