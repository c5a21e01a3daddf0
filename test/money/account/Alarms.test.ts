import { expect, it, layer } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import * as Alarm from "../../../src/money/account/Alarm.ts"
import { defaultQuota, opened } from "../../../src/money/account/AccountMachine.ts"
import * as Lives from "../../../src/money/account/Lives.ts"
import * as Id from "../../../src/domain/Id.ts"
import { Jobs } from "../../../src/runtime/job/Jobs.ts"
import { empty, Journal, type MoneyRow } from "../../../src/runtime/store/journal/Journal.ts"
import * as Features from "../../support/service/Features.ts"

const tenantId = Id.deriveUuid("alarm", "tenant")

it("a balance is low below the limit, and a cap is told of from four fifths on, by what the tenant has spent", () => {
  const kinds = (
    tally: { readonly balance: number; readonly day: number; readonly month: number },
    caps = defaultQuota
  ) =>
    Alarm.of({
      settings: { ...opened(tenantId), quota: caps },
      tally: {
        balanceCents: tally.balance,
        creditLimitCents: 0,
        rechargeFailed: false,
        planCallLimit: null,
        testMoneyCents: 0,
        before: null,
        day: "2026-01-31",
        daySpentCents: tally.day,
        monthSpentCents: tally.month,
        live: Lives.empty
      }
    }).map(({ kind, period }) => `${kind} ${period}`)
  expect(kinds({ balance: 200, day: 1, month: 1 })).toEqual([])
  expect(kinds({ balance: 199, day: 0, month: 1 })).toEqual(["low_balance "])
  // A tenant that has spent nothing gets no letter.
  expect(kinds({ balance: 0, day: 0, month: 0 })).toEqual([])
  expect(kinds({ balance: 200, day: 7_999, month: 79_999 })).toEqual([])
  expect(kinds({ balance: 200, day: 8_000, month: 80_000 })).toEqual([
    "daily_cap 2026-01-31 10000",
    "monthly_cap 2026-01 100000"
  ])
  const uncapped = { ...defaultQuota, dailySpendCapCents: null, monthlySpendCapCents: null }
  expect(kinds({ balance: 200, day: 8_000, month: 80_000 }, uncapped)).toEqual([])
})

const quiet = Features.layer.pipe(Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None")))

layer(quiet, { timeout: "60 seconds", excludeTestServices: true })("Letters about money", (it) => {
  it.effect("are posted once for each crossing, to who pays", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const accounts = yield* Accounts
      const journal = yield* Journal
      const jobs = yield* Jobs
      const { id } = yield* Features.newTenant()
      yield* sql`UPDATE member SET email_verified_at = now() WHERE tenant_id = ${id}`
      yield* accounts.setQuota(
        id,
        { dailySpendCapCents: 400, monthlySpendCapCents: null },
        { type: "operator", name: "x" }
      )
      let n = 0
      const move = Effect.fnUntraced(function* (type: MoneyRow["type"], amountCents: number) {
        const money = {
          id: Id.derive(`alarm ${++n}`, "ledger"),
          tenantId: id,
          cause: `alarm ${n}`,
          type,
          amountCents,
          description: "",
          referenceType: null,
          referenceId: null,
          at: Date.now()
        }
        yield* journal.commit({ ...empty, money: [money] })
        yield* accounts.moneyMoved(id)
        yield* accounts.overview(id)
      })
      const look = Effect.gen(function* () {
        yield* jobs.enqueue({ kind: "account.alarms", key: "account.alarms", tenantId: null })
        yield* sql`UPDATE job SET due_at = now() WHERE kind = 'account.alarms'`
        yield* jobs.runNow("account.alarms", "account.alarms")
        const rows = yield* sql<{ readonly cause: string }>`
          SELECT cause FROM letter WHERE tenant_id = ${id} AND (cause LIKE '%_cap:%' OR cause LIKE 'low_balance:%') ORDER BY cause`
        return rows.map(({ cause }) => cause.split(":")[0])
      })
      yield* accounts.overview(id)
      expect(yield* look).toEqual([])
      yield* move("number_order", -301)
      expect(yield* look).toEqual(["low_balance"])
      yield* move("number_order", -19)
      expect(yield* look).toEqual(["daily_cap", "low_balance"])
      expect(yield* look).toEqual(["daily_cap", "low_balance"])
      yield* move("topup", 1_000)
      expect(yield* look).toEqual(["daily_cap", "low_balance"])
      // Money that goes back to a card is not spend, and the balance is low once more.
      yield* move("refund", -1_100)
      expect(yield* look).toEqual(["daily_cap", "low_balance", "low_balance"])
    })
  )
})
