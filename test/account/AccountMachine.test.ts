import { describe, expect, it } from "@effect/vitest"
import { HashMap } from "effect"
import * as Account from "../../src/account/AccountMachine.ts"
import type { CallId } from "../../src/domain/Id.ts"
import * as Ids from "../support/Ids.ts"

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
    day: "2026-11-20",
    daySpentCents: 0,
    monthSpentCents: 0,
    live: HashMap.empty(),
    ...tally
  }
})
const live = { direction: "outbound", reservedCents: 1, heard: 0 } as const
const calls = (count: number) =>
  HashMap.fromIterable(Array.from({ length: count }, (_, index) => [Ids.call(`call ${index}`), live] as const))
const inbound = { type: "admit", id: Ids.call("inbound"), live: { ...live, direction: "inbound" } } as const
const admit = (state: Account.AccountState, now = noon) => {
  const outcome = Account.step(state, { type: "admit", id: Ids.call("new"), live }, { ...context, now })
  return outcome.type === "rejected" ? outcome.error.code : outcome.type
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
    expect(Account.step(suspended, inbound, context).type).toBe("rejected")
  })
  it("inbound calls are taken in without money or room", () =>
    expect(Account.step(account({ balanceCents: -5, live: calls(99) }), inbound, context).type).toBe("accepted"))
})

describe("Settings", () => {
  it("only the suspension that it names is lifted by a verification", () => {
    const fraud = account({}, { status: "suspended", suspensionReason: "fraud_review" })
    expect(Account.step(fraud, { type: "reactivated", ifReason: "email_unverified" }, context).type).toBe("unchanged")
    const unverified = account({}, { status: "suspended", suspensionReason: "email_unverified" })
    const lifted = Account.step(unverified, { type: "reactivated", ifReason: "email_unverified" }, context)
    expect(lifted.type === "accepted" && lifted.state.settings.status === "active" && lifted.effects.durable).toBe(true)
  })
  it("admissions are not written, settings are", () => {
    const admitted = Account.step(account(), { type: "admit", id: Ids.call("new"), live }, context)
    expect(admitted.type === "accepted" && !admitted.effects.durable && admitted.state.settings.seq === 1).toBe(true)
    const changed = Account.step(account(), { type: "quota_set", quota: { concurrentCallLimit: 3 } }, context)
    expect(changed.type === "accepted" && changed.effects.durable && changed.state.settings.seq === 2).toBe(true)
  })
})

describe("The limit of a call, guide/money.md#the-longest-a-call-can-last", () => {
  const limit = (fields: Partial<Parameters<typeof Account.callLimit>[0]>) =>
    Account.callLimit({
      timeLimitSecs: null,
      fundsCents: 500,
      microUsdPerMinute: 10_000,
      maxCallSecs: 14_400,
      ...fields
    })
  it("is what the money affords", () =>
    expect(limit({ fundsCents: 3 })).toStrictEqual({ afterSecs: 180, reason: "balance_exhausted" }))
  it("is at least one started minute", () =>
    expect(limit({ fundsCents: 1, microUsdPerMinute: 50_000 })).toStrictEqual({
      afterSecs: 60,
      reason: "balance_exhausted"
    }))
  it("is the asked time where that is shorter", () =>
    expect(limit({ timeLimitSecs: 30 })).toStrictEqual({ afterSecs: 30, reason: "time_limit" }))
  it("is the service's longest call where nothing else is shorter", () =>
    expect(limit({ microUsdPerMinute: 0 })).toStrictEqual({ afterSecs: 14_400, reason: "time_limit" }))
})

describe("What is told of a call", () => {
  const ended = (state: Account.AccountState, id: CallId, chargedCents = 7) =>
    Account.step(state, { type: "told", from: id, n: 1, body: { type: "ended", chargedCents } }, context)
  it("its end gives its place back and takes its charge, once", () => {
    const one = account({ live: calls(2) })
    const first = ended(one, Ids.call("call 1"))
    expect.assert(first.type === "accepted")
    const { tally } = first.state
    expect([
      tally.balanceCents,
      tally.daySpentCents,
      tally.monthSpentCents,
      [...HashMap.keys(tally.live)]
    ]).toStrictEqual([493, 7, 7, ["call 0"]])
    expect(ended(first.state, Ids.call("call 1")).type).toBe("unchanged")
  })
  it("a number that was heard changes nothing, and one that comes too early dies, for what is missing is in the rows", () => {
    const told = (heard: number, n: number) => () =>
      Account.step(
        account({ live: HashMap.make([Ids.call("call"), { ...live, heard }]) }),
        { type: "told", from: Ids.call("call"), n, body: { type: "ended", chargedCents: 7 } },
        context
      ).type
    expect(told(2, 2)()).toBe("unchanged")
    expect(told(2, 3)()).toBe("accepted")
    expect(told(2, 4)).toThrow()
  })
  it("an admission that is abandoned gives its place back, and costs nothing", () => {
    const outcome = Account.step(account({ live: calls(1) }), { type: "abandoned", id: Ids.call("call 0") }, context)
    expect(outcome.type === "accepted" && Account.liveCalls(outcome.state.tally) === 0).toBe(true)
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
