import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/money/account/Account.ts"
import { Billing } from "../../../src/money/billing/Billing.ts"
import { Funding } from "../../../src/money/funding/Funding.ts"
import * as Id from "../../../src/domain/Id.ts"
import { Numbers } from "../../../src/numbers/number/Number.ts"
import * as Features from "../../support/service/Features.ts"
import * as Ids from "../../support/Ids.ts"

/** A tenant whose cards the development processor charges, and whose calls are rows of the ledger. */
const tenant = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const funding = yield* Funding
  const accounts = yield* Accounts
  const { caller, id } = yield* Features.newTenant()
  const [simulated] = yield* sql<{ readonly id: string }>`SELECT id FROM route WHERE tenant_id = ${id}`
  yield* funding.save(caller, { processorPaymentMethodId: "pm_card_visa", setDefault: true }, null)
  let entries = 0
  const entry = (type: string, cents: number, reference: readonly [type: string, id: string]) => {
    const entryId = Id.derive(`${id} ${++entries}`, "ledger")
    return Effect.as(
      sql`INSERT INTO ledger (id, tenant_id, cause, type, amount_cents, balance_after_cents, description,
          reference_type, reference_id, created_at)
        VALUES (${entryId}, ${id}, ${entryId}, ${type}, ${cents}, 0, 'test', ${reference[0]}, ${reference[1]}, now())`,
      entryId
    )
  }
  return {
    id,
    caller,
    topUp: (cents: number) => funding.topUp(caller, { amountCents: cents, paymentMethodId: null }, null),
    charged: Effect.fnUntraced(function* (cents: number, route: "simulated" | "trunk") {
      const callId = Id.derive(`${id} call ${++entries}`, "call")
      yield* sql`INSERT INTO call (id, tenant_id, direction, status, from_number, to_number, route_id, initiated_at,
          duration_seconds, rating_status)
        VALUES (${callId}, ${id}, 'outbound', 'ended', '+12025550150', '+12025550100',
          ${route === "simulated" ? (simulated?.id ?? "") : "svc_route_trunk"}, now(), 1, 'rated')`
      return yield* entry("call_charge", -cents, ["call", callId])
    }),
    givenBack: (cents: number, of: string) => entry("adjustment", cents, ["ledger_entry", of]),
    left: Effect.gen(function* () {
      yield* accounts.moneyMoved(id)
      return (yield* accounts.overview(id)).tally.testMoneyCents
    })
  }
})

layer(Features.layer, { excludeTestServices: true })(
  "how much of a balance is test money (guide/money.md#the-development-processor)",
  (it) => {
    it.effect("nothing without a card, whatever is given and spent", () =>
      Effect.gen(function* () {
        const a = yield* tenant
        yield* (yield* Billing).adjust(a.id, 1_000, "test")
        yield* a.charged(300, "simulated")
        expect(yield* a.left).toBe(0)
      })
    )

    it.effect("what cards paid, less the calls with simulated phones since then, and no others", () =>
      Effect.gen(function* () {
        const a = yield* tenant
        yield* a.charged(300, "simulated")
        yield* a.topUp(1_000)
        expect(yield* a.left).toBe(1_000)
        yield* a.charged(100, "trunk")
        expect(yield* a.left).toBe(1_000)
        const charge = yield* a.charged(400, "simulated")
        expect(yield* a.left).toBe(600)
        yield* a.givenBack(50, charge)
        expect(yield* a.left).toBe(650)
        // Real money has paid the rest, so the next test money is whole.
        yield* a.charged(5_000, "simulated")
        expect(yield* a.left).toBe(0)
        yield* a.topUp(1_000)
        expect(yield* a.left).toBe(1_000)
      })
    )

    it.effect("a refund to the card takes it away", () =>
      Effect.gen(function* () {
        const a = yield* tenant
        yield* a.topUp(2_000)
        const [attempt] = yield* (yield* Funding).attempts(a.id, 1)
        yield* (yield* Funding).refund(attempt?.id ?? expect.unreachable("no attempt"), 1_500, null)
        expect(yield* a.left).toBe(500)
      })
    )

    it.effect("a call over a trunk, a number and a plan are refused, and the message says why", () =>
      Effect.gen(function* () {
        const a = yield* tenant
        const accounts = yield* Accounts
        yield* (yield* Billing).adjust(a.id, -500, "no trial credit")
        yield* accounts.moneyMoved(a.id)
        yield* a.topUp(100_000)
        const call = { purpose: "outbound", offers: [1] } as const
        const refused = yield* Effect.flip(accounts.reserve(a.id, Ids.call("trunk"), call))
        expect([refused.code, refused.message]).toEqual([
          "balance_insufficient",
          expect.stringContaining("100000 cents of the balance are test money")
        ])
        yield* accounts.reserve(a.id, Ids.call("simulated"), { ...call, takesTestMoney: true })
        const order = { phoneNumbers: ["+12025550150"], countryCode: "US", numberType: "local" } as const
        const numbers = yield* Numbers
        const unpaid = yield* Effect.flip(
          numbers.order(a.caller, { ...order, routeId: null, customerReference: null }, null)
        )
        expect([unpaid.code, unpaid.message]).toEqual([
          "insufficient_balance",
          expect.stringContaining("test money of the development processor")
        ])
      })
    )
  }
)
