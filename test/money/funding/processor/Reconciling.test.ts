import { expect, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Funding } from "../../../../src/money/funding/Funding.ts"
import { Proofs } from "../../../../src/money/proof/Proof.ts"
import * as DoubledStripe from "../../../ports/payment/DoubledStripe.ts"
import type * as StripeDouble from "../../../ports/payment/StripeDouble.ts"
import * as Features from "../../../support/service/Features.ts"

const { Double } = DoubledStripe

const world = Features.paidBy(DoubledStripe.layer).pipe(Layer.provideMerge(DoubledStripe.layer))

const payer = Effect.gen(function* () {
  const { caller } = yield* Features.newTenant()
  yield* (yield* Funding).save(caller, { processorPaymentMethodId: "pm_card_visa", setDefault: true }, null)
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly id: string }>`
    SELECT customer_id AS id FROM payment_customer WHERE tenant_id = ${caller.tenantId}`
  return { caller, customer: row?.id ?? "" }
})

/** Tops up, and captures something else than was requested. */
const toppedUp = Effect.fnUntraced(function* (
  { caller }: Effect.Success<typeof payer>,
  cents: number,
  wrong: StripeDouble.StripeDouble["wrong"] = {}
) {
  const stripe = yield* Double
  stripe.wrong = wrong
  yield* (yield* Funding).topUp(caller, { amountCents: cents, paymentMethodId: null }, null)
  stripe.wrong = {}
  const [attempt] = yield* (yield* Funding).attempts(caller.tenantId, 1)
  return attempt?.id ?? ""
})

/** The exceptions of this tenant, when all tenants are compared as the daily round does, and when it alone is. */
const bothLooks = Effect.fnUntraced(function* ({ caller: { tenantId } }: Effect.Success<typeof payer>) {
  const funding = yield* Funding
  const sinceMs = (yield* Clock.currentTimeMillis) - 4 * 86_400_000
  const all = yield* funding.reconcile(null, sinceMs)
  const own = yield* funding.reconcile(tenantId)
  expect(all.exceptions.filter(({ tenant_id }) => tenant_id === tenantId)).toEqual(own.exceptions)
  return own
})

const saysProof = Effect.fnUntraced(function* ({ caller: { tenantId } }: Effect.Success<typeof payer>) {
  const processor = yield* (yield* Funding).reconciled(tenantId)
  return (yield* (yield* Proofs).proof(tenantId, processor)).exceptions.map(({ code }) => code)
})

layer(world, { excludeTestServices: true })("the reconciliation with the card processor", (it) => {
  it.effect("the payments of other services on the account are not asked for, and are no exception", () =>
    Effect.gen(function* () {
      const stripe = yield* Double
      const of = yield* payer
      for (let n = 0; n < 150; n++)
        stripe.refund(
          stripe.capture({ customer: n % 3 === 0 ? null : `cus_other${n}`, metadata: { attempt: `order ${n}` } }).id,
          n % 2 === 0 ? 400 : null
        )
      stripe.dispute(stripe.capture({ customer: "cus_other" }).id)
      // A payment of this service that nothing reported is still booked.
      stripe.faults.push("lose_answer")
      const unreported = yield* toppedUp(of, 2_000)
      stripe.asked.length = 0
      expect(yield* (yield* Funding).reconcile(null, 0)).toMatchObject({ charged_cents: 2_000, exceptions: [] })
      const [intent] = [...stripe.intents.values()].filter(({ metadata }) => metadata["attempt"] === unreported)
      expect(stripe.asked.filter((asked) => asked !== "GET /v1/balance_transactions")).toEqual([
        `GET /v1/payment_intents/${intent?.id}`
      ])
    })
  )

  for (const [what, wrong, processor_cents, currency, difference] of [
    ["of another amount", { amount: 2_500 }, 2_500, "usd", 2_500],
    ["of a smaller amount", { amount: 1_999 }, 1_999, "usd", 1_999],
    ["in another currency", { currency: "eur" }, 2_000, "eur", 0],
    ["of another amount in another currency", { amount: 700, currency: "jpy" }, 700, "jpy", 0]
  ] as const)
    it.effect(`a captured payment ${what} is an exception, and the proof names it`, () =>
      Effect.gen(function* () {
        const of = yield* payer
        const attempt = yield* toppedUp(of, 2_000, wrong)
        const found = yield* bothLooks(of)
        expect(found).toMatchObject({
          charged_cents: difference,
          difference_cents: difference,
          exceptions: [{ attempt_id: attempt, processor_cents, currency, ledger_cents: 0 }]
        })
        expect(yield* saysProof(of)).toEqual(["processor_differs"])
      })
    )

  it.effect("a second payment for an attempt is an exception, and so is one that no attempt asked for", () =>
    Effect.gen(function* () {
      const stripe = yield* Double
      const of = yield* payer
      const attempt = yield* toppedUp(of, 2_000)
      expect(yield* bothLooks(of)).toMatchObject({ charged_cents: 2_000, difference_cents: 0, exceptions: [] })
      const second = stripe.capture({ amount: 2_000, customer: of.customer, metadata: { attempt } })
      const unasked = stripe.capture({ amount: 300, customer: of.customer })
      const found = yield* bothLooks(of)
      expect(found).toMatchObject({ charged_cents: 4_300, difference_cents: 2_300 })
      expect(found.exceptions).toHaveLength(2)
      expect(found.exceptions).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            attempt_id: attempt,
            intent_id: second.id,
            processor_cents: 2_000,
            ledger_cents: 0
          }),
          expect.objectContaining({ attempt_id: null, intent_id: unasked.id, processor_cents: 300, ledger_cents: 0 })
        ])
      )
      // A payment that the operator gives back at the processor differs no longer.
      for (const { id } of [second, unasked]) stripe.refund(id, null)
      expect(yield* bothLooks(of)).toMatchObject({ charged_cents: 2_000, difference_cents: 0, exceptions: [] })
      expect(yield* saysProof(of)).toEqual([])
    })
  )

  it.effect("payments that differ by the same amount in both directions do not agree", () =>
    Effect.gen(function* () {
      const stripe = yield* Double
      const sql = yield* SqlClient.SqlClient
      const of = yield* payer
      const attempt = yield* toppedUp(of, 2_000)
      yield* sql`UPDATE payment_attempt SET intent_id = 'pi_gone' WHERE id = ${attempt}`
      expect(stripe.intents.size).toBeGreaterThan(0)
      const found = yield* bothLooks(of)
      expect([found.difference_cents, found.exceptions.length]).toEqual([0, 2])
      expect(yield* saysProof(of)).toEqual(["processor_differs"])
      yield* sql`DELETE FROM ledger WHERE id = ${attempt}`
    })
  )

  it.effect("an amount that was captured in part is the one that moved", () =>
    Effect.gen(function* () {
      const stripe = yield* Double
      const of = yield* payer
      const attempt = yield* toppedUp(of, 2_000)
      const charge = stripe.charges.at(-1)
      if (charge !== undefined) charge.amount = 5_000
      expect(yield* bothLooks(of)).toMatchObject({ charged_cents: 2_000, exceptions: [] })
      expect(attempt).not.toBe("")
    })
  )
})
