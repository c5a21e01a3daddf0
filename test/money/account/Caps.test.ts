import { expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Account from "../../../src/money/account/AccountMachine.ts"
import * as Lives from "../../../src/money/account/Lives.ts"
import * as Ids from "../../support/Ids.ts"

const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Step = Schema.Struct({
  call: whole(0, 7),
  type: Schema.Literals(["outbound", "transfer", "answer", "renewal", "ended", "abandoned", "later"]),
  /** The least that it asks for beside its reservation; `gladly` is on top. */
  more: whole(0, 120),
  gladly: whole(0, 600),
  /** The charge of an ended call, in hundredths of its reservation. */
  charged: whole(0, 100)
})

const names = Array.from({ length: 8 }, (_, index) => Ids.call(`call ${index}`))
const start = Date.UTC(2026, 10, 29, 20)
const hourMs = 3_600_000

it.prop(
  "what calls spend and what they reserve are within each cap, to the cent, whatever they ask for and in whatever order",
  { steps: Schema.Array(Step).check(Schema.isMinLength(40)), day: whole(100, 500), month: whole(200, 1_000) },
  ({ day, month, steps }) => {
    let now = start
    let state: Account.AccountState = {
      settings: {
        ...Account.opened(Ids.tenant("t")),
        quota: { ...Account.defaultQuota, dailySpendCapCents: day, monthlySpendCapCents: month }
      },
      tally: {
        balanceCents: 1e9,
        creditLimitCents: 0,
        rechargeFailed: false,
        planCallLimit: null,
        testMoneyCents: 0,
        before: null,
        day: Account.dayOf(start),
        daySpentCents: 0,
        monthSpentCents: 0,
        live: Lives.empty
      }
    }
    /** The test's own sums, by day and by month. */
    const spent = new Map<string, number>()
    const inputOf = ({ call, charged, gladly, more, type }: typeof Step.Type): Account.AccountInput | null => {
      const id = names[call] ?? Ids.call("none")
      const own = Lives.get(state.tally.live, id)
      switch (type) {
        case "later":
          now += 3 * hourMs
          return null
        case "ended": {
          if (own === null) return null
          const chargedCents = Math.floor((own.reservedCents * charged) / 100)
          for (const period of [Account.dayOf(now), Account.dayOf(now).slice(0, 7)])
            spent.set(period, (spent.get(period) ?? 0) + chargedCents)
          return { type: "told", from: id, n: own.heard + 1, body: { type: "ended", chargedCents } }
        }
        case "abandoned":
          return { type: "abandoned", id }
        default: {
          if ((type === "renewal" || type === "transfer") && own === null) return null
          const least = (own?.reservedCents ?? 0) + more
          return { type: "reserve", id, purpose: type, offers: [least, least + gladly] }
        }
      }
    }
    for (const step of steps) {
      const input = inputOf(step)
      if (input === null) continue
      const outcome = Account.step(state, input, { now, seed: "s" })
      if (outcome.type === "accepted") state = outcome.state
      const { live } = state.tally
      const [today, thisMonth] = [spent.get(Account.dayOf(now)) ?? 0, spent.get(Account.dayOf(now).slice(0, 7)) ?? 0]
      expect(today + live.reservedCents).toBeLessThanOrEqual(day)
      expect(thisMonth + live.reservedCents).toBeLessThanOrEqual(month)
      if (Account.dayOf(now) === state.tally.day)
        expect([state.tally.daySpentCents, state.tally.monthSpentCents]).toEqual([today, thisMonth])
    }
  }
)
