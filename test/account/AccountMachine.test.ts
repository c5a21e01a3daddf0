import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Account from "../../src/account/AccountMachine.ts"

const noon = Date.UTC(2026, 10, 20, 12)
const context = { now: noon, seed: "s" }
const account = (
  tally: Partial<Account.Tally> = {},
  settings: Partial<Account.Settings> = {}
): Account.AccountState => ({
  settings: { ...Account.opened("t"), ...settings },
  tally: {
    balanceCents: 500,
    creditLimitCents: 0,
    day: "2026-11-20",
    daySpentCents: 0,
    monthSpentCents: 0,
    liveCalls: 0,
    ...tally
  }
})
const admit = (state: Account.AccountState, now = noon) => {
  const outcome = Account.step(state, { type: "admit_outbound" }, { ...context, now })
  return outcome._tag === "rejected" ? outcome.rejection.code : outcome._tag
}
const quota = (fields: Partial<Account.Quota>) => ({ quota: { ...Account.defaultQuota, ...fields } })

describe("Admission, spec §7 and decision 2.10", () => {
  it("an account with money and room admits", () => assert.strictEqual(admit(account()), "accepted"))
  it("balance plus credit limit must be above zero", () => {
    assert.strictEqual(admit(account({ balanceCents: 0 })), "balance_insufficient")
    assert.strictEqual(admit(account({ balanceCents: -100, creditLimitCents: 100 })), "balance_insufficient")
    assert.strictEqual(admit(account({ balanceCents: -99, creditLimitCents: 100 })), "accepted")
  })
  it("the daily cap refuses when it is spent, and a new UTC day forgets", () => {
    const spent = account({ daySpentCents: 10_000 })
    assert.strictEqual(admit(spent), "daily_spend_cap_exceeded")
    assert.strictEqual(admit(spent, Date.UTC(2026, 10, 21)), "accepted")
  })
  it("the monthly cap refuses, also on the next day, and a new month forgets", () => {
    const spent = account({ monthSpentCents: 100_000 })
    assert.strictEqual(admit(spent, Date.UTC(2026, 10, 21)), "monthly_spend_cap_exceeded")
    assert.strictEqual(admit(spent, Date.UTC(2026, 11, 1)), "accepted")
  })
  it("a cap of null is no cap", () =>
    assert.strictEqual(
      admit(
        account(
          { daySpentCents: 1e9, monthSpentCents: 1e9 },
          quota({ dailySpendCapCents: null, monthlySpendCapCents: null })
        )
      ),
      "accepted"
    ))
  it("the concurrent limit counts live calls", () => {
    assert.strictEqual(admit(account({ liveCalls: 9 })), "accepted")
    assert.strictEqual(admit(account({ liveCalls: 10 })), "concurrent_call_cap_exceeded")
  })
  it("money comes before caps, caps before the concurrent limit", () => {
    assert.strictEqual(
      admit(account({ balanceCents: 0, daySpentCents: 10_000, liveCalls: 10 })),
      "balance_insufficient"
    )
    assert.strictEqual(admit(account({ daySpentCents: 10_000, liveCalls: 10 })), "daily_spend_cap_exceeded")
  })
  it("a suspended tenant is refused in both directions", () => {
    const suspended = account({}, { status: "suspended" })
    assert.strictEqual(admit(suspended), "tenant_suspended")
    assert.strictEqual(Account.step(suspended, { type: "admit_inbound" }, context)._tag, "rejected")
  })
  it("inbound calls are taken in without money or room", () =>
    assert.strictEqual(
      Account.step(account({ balanceCents: -5, liveCalls: 99 }), { type: "admit_inbound" }, context)._tag,
      "accepted"
    ))
})

describe("Settings", () => {
  it("only the suspension that it names is lifted by a verification", () => {
    const fraud = account({}, { status: "suspended", suspensionReason: "fraud_review" })
    assert.strictEqual(
      Account.step(fraud, { type: "reactivated", ifReason: "email_unverified" }, context)._tag,
      "unchanged"
    )
    const unverified = account({}, { status: "suspended", suspensionReason: "email_unverified" })
    const lifted = Account.step(unverified, { type: "reactivated", ifReason: "email_unverified" }, context)
    assert.isTrue(lifted._tag === "accepted" && lifted.state.settings.status === "active" && lifted.effects.durable)
  })
  it("admissions are not written, settings are", () => {
    const admitted = Account.step(account(), { type: "admit_outbound" }, context)
    assert.isTrue(admitted._tag === "accepted" && !admitted.effects.durable && admitted.state.settings.seq === 1)
    const changed = Account.step(account(), { type: "quota_set", quota: { concurrentCallLimit: 3 } }, context)
    assert.isTrue(changed._tag === "accepted" && changed.effects.durable && changed.state.settings.seq === 2)
  })
})

describe("The limit of a call, decision D6", () => {
  const limit = (fields: Partial<Parameters<typeof Account.callLimit>[0]>) =>
    Account.callLimit({
      timeLimitSecs: null,
      fundsCents: 500,
      microUsdPerMinute: 10_000,
      maxCallSecs: 14_400,
      ...fields
    })
  it("is what the money affords", () =>
    assert.deepStrictEqual(limit({ fundsCents: 3 }), { afterSecs: 180, reason: "balance_exhausted" }))
  it("is at least one started minute", () =>
    assert.deepStrictEqual(limit({ fundsCents: 1, microUsdPerMinute: 50_000 }), {
      afterSecs: 60,
      reason: "balance_exhausted"
    }))
  it("is the asked time where that is shorter", () =>
    assert.deepStrictEqual(limit({ timeLimitSecs: 30 }), { afterSecs: 30, reason: "time_limit" }))
  it("is the service's longest call where nothing else is shorter", () =>
    assert.deepStrictEqual(limit({ microUsdPerMinute: 0 }), { afterSecs: 14_400, reason: "time_limit" }))
})

describe("Properties", () => {
  const Moves = Schema.Array(Schema.Literals(["admit_outbound", "admit_inbound", "ended"])).check(
    Schema.isMaxLength(60)
  )
  it.prop("outbound calls never exceed the limit, and every place comes back", { moves: Moves }, ({ moves }) => {
    let state = account({}, quota({ concurrentCallLimit: 3 }))
    let live = 0
    for (const move of moves) {
      if (move === "ended" && live === 0) continue
      const outcome = Account.step(
        state,
        move === "ended" ? { type: "call_ended", chargedCents: 0, balanceCents: null } : { type: move },
        context
      )
      if (outcome._tag === "accepted") {
        state = outcome.state
        live += move === "ended" ? -1 : 1
      } else assert.isTrue(move === "admit_outbound" && live >= 3)
      assert.strictEqual(state.tally.liveCalls, live)
    }
  })
})
