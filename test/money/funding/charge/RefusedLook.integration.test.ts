import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { TenantId } from "../../../../src/domain/Id.ts"
import { Funding } from "../../../../src/money/funding/Funding.ts"
import { Jobs } from "../../../../src/runtime/job/Jobs.ts"
import * as DoubledStripe from "../../../ports/payment/DoubledStripe.ts"
import * as StripeDouble from "../../../ports/payment/StripeDouble.ts"
import * as Features from "../../../support/service/Features.ts"

const refused = (status: number) =>
  StripeDouble.failed(status, { type: "invalid_request_error", message: "The processor refuses this" })

/** A tenant with a saved card. */
const payerWith = Effect.fnUntraced(function* (card: string) {
  const double = yield* DoubledStripe.Double
  double.answersInstead = () => null
  const funding = yield* Funding
  const tenant = yield* Features.newTenant()
  yield* funding.save(tenant.caller, { processorPaymentMethodId: card, setDefault: true }, null)
  return tenant
})
const payer = payerWith("pm_card_visa")

const topUp = Effect.fnUntraced(function* ({ caller }: Features.NewTenant) {
  const answer = yield* (yield* Funding).topUp(caller, { amountCents: 1_000, paymentMethodId: null }, null)
  return JSON.parse(answer.body ?? "") as { readonly id: string; readonly status: string }
})

/** Makes the next attempts of all jobs of payments at once. */
const again = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE job SET due_at = now() WHERE kind IN ('funding.collect', 'funding.refund', 'funding.processor_event')`
  yield* (yield* Jobs).poll
})

const statusOf = Effect.fnUntraced(function* (tenantId: TenantId) {
  const [attempt] = yield* (yield* Funding).attempts(tenantId, 1)
  return attempt?.status
})

const balanceOf = Effect.fnUntraced(function* (tenantId: TenantId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly cents: number }>`
    SELECT balance_cents AS cents FROM balance WHERE tenant_id = ${tenantId}`
  return row?.cents
})

/** The declines that count for the limits of cards. */
const declinesOf = Effect.fnUntraced(function* (tenantId: TenantId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly count: number }>`
    SELECT count(*)::int AS count FROM card_trial
    WHERE tenant_id = ${tenantId} AND kind = 'decline' AND address = '192.0.2.1'`
  return row?.count
})

/** The charges that the processor has made for a tenant. */
const chargesOf = Effect.map(
  DoubledStripe.Double,
  (double) => (tenantId: TenantId) =>
    [...double.intents.values()].filter(
      ({ metadata, status }) => metadata["tenant"] === tenantId && status === "succeeded"
    ).length
)

describe("a request that the processor refuses (guide/money.md#top-ups)", () => {
  layer(Features.paidBy(DoubledStripe.layer).pipe(Layer.provideMerge(DoubledStripe.layer)), {
    excludeTestServices: true
  })((it) => {
    for (const status of [400, 401, 403, 404])
      it.effect(`does not decide over a charge whose answer was lost: its look is refused with ${status}`, () =>
        Effect.gen(function* () {
          const double = yield* DoubledStripe.Double
          const tenant = yield* payer
          double.faults.push("lose_answer")
          expect((yield* topUp(tenant)).status).toBe("pending")
          double.answersInstead = (asked) => (asked.startsWith("GET ") ? refused(status) : null)
          for (let looks = 0; looks < 3; looks++) yield* again
          expect([yield* statusOf(tenant.id), yield* balanceOf(tenant.id)]).toEqual(["pending", 500])
          double.answersInstead = () => null
          yield* again
          expect([yield* statusOf(tenant.id), yield* balanceOf(tenant.id)]).toEqual(["succeeded", 1_500])
          expect((yield* chargesOf)(tenant.id)).toBe(1)
        })
      )

    for (const status of [400, 401, 402, 403, 404])
      it.effect(`does not decide over the charge that it answers with ${status}: the look does`, () =>
        Effect.gen(function* () {
          const double = yield* DoubledStripe.Double
          const tenant = yield* payer
          // The card was charged, and the answer is wrong.
          double.answersInstead = (asked) => (asked === "POST /v1/payment_intents" ? refused(status) : null)
          expect((yield* topUp(tenant)).status).not.toBe("failed")
          double.answersInstead = () => null
          yield* again
          expect([yield* statusOf(tenant.id), yield* balanceOf(tenant.id)]).toEqual(["succeeded", 1_500])
          expect((yield* chargesOf)(tenant.id)).toBe(1)
        })
      )

    it.effect("does not decide over a charge when the key is one of an account that has not the customer", () =>
      Effect.gen(function* () {
        const double = yield* DoubledStripe.Double
        const tenant = yield* payer
        double.faults.push("lose_answer")
        expect((yield* topUp(tenant)).status).toBe("pending")
        const back = double.otherAccount()
        for (let looks = 0; looks < 3; looks++) yield* again
        expect([yield* statusOf(tenant.id), double.intents.size]).toEqual(["pending", 0])
        back()
        yield* again
        expect([yield* statusOf(tenant.id), yield* balanceOf(tenant.id)]).toEqual(["succeeded", 1_500])
        expect((yield* chargesOf)(tenant.id)).toBe(1)
      })
    )

    for (const status of [200, 400, 404] as const)
      it.effect(`is known at a customer that was deleted, whose lists are answered with ${status}`, () =>
        Effect.gen(function* () {
          const funding = yield* Funding
          const double = yield* DoubledStripe.Double
          const sql = yield* SqlClient.SqlClient
          double.listsDeletedWith = status
          for (const [fault, isLate, expected] of [
            ["lose_answer", false, ["succeeded", 1_500, null]],
            ["lose_answer", true, ["succeeded", 1_500, null]],
            ["lose_request", false, ["failed", 500, "card_gone"]],
            ["lose_request", true, ["failed", 500, "not_charged"]]
          ] as const) {
            const tenant = yield* payer
            double.faults.push(fault)
            const { id, status: first } = yield* topUp(tenant)
            expect(first).toBe("pending")
            const [customer] = yield* sql<{ readonly id: string }>`
              SELECT customer_id AS id FROM payment_customer WHERE tenant_id = ${tenant.id}`
            double.deleteCustomer(customer?.id ?? "")
            if (isLate)
              yield* sql`UPDATE payment_attempt SET created_at = created_at - interval '24 hours' WHERE id = ${id}`
            yield* again
            const [attempt] = yield* funding.attempts(tenant.id, 1)
            expect([fault, isLate, attempt?.status, yield* balanceOf(tenant.id), attempt?.failureCode]).toEqual([
              fault,
              isLate,
              ...expected
            ])
            const { difference_cents, exceptions } = yield* funding.reconcile(tenant.id)
            expect([difference_cents, exceptions]).toEqual([0, []])
          }
          double.listsDeletedWith = 200
        })
      )

    it.effect("blocks nothing for ever: the operator gives it up, and it is credited if it was paid after all", () =>
      Effect.gen(function* () {
        const funding = yield* Funding
        const double = yield* DoubledStripe.Double
        const tenant = yield* payer
        double.faults.push("lose_answer")
        const { id } = yield* topUp(tenant)
        const back = double.otherAccount()
        yield* again
        const card = (yield* funding.attempts(tenant.id, 1))[0]?.paymentMethodId as never
        expect(yield* Effect.flip(funding.remove(tenant.caller, card, null))).toMatchObject({ code: "conflict" })
        expect(yield* funding.abandon(id as never, "the account is closed")).toMatchObject({
          status: "failed",
          failureCode: "abandoned"
        })
        expect(yield* Effect.flip(funding.abandon(id as never, null))).toMatchObject({ code: "conflict" })
        const sql = yield* SqlClient.SqlClient
        const lines = yield* sql<{ readonly action: string }>`
          SELECT action FROM audit WHERE tenant_id = ${tenant.id} AND resource_id = ${id} ORDER BY ordinal`
        expect(lines.map(({ action }) => action)).toEqual(["topup.created", "topup.abandoned", "topup.failed"])
        expect((yield* funding.remove(tenant.caller, card, null)).status).toBe(204)
        back()
        expect(yield* funding.reconcile(tenant.id)).toMatchObject({ difference_cents: 0, exceptions: [] })
        expect([yield* statusOf(tenant.id), yield* balanceOf(tenant.id)]).toEqual(["succeeded", 1_500])
      })
    )

    it.effect("fails a charge when the account of the customer has no charge for it", () =>
      Effect.gen(function* () {
        const double = yield* DoubledStripe.Double
        const tenant = yield* payer
        for (const method of double.methods.values()) method.customer = null
        const error = yield* Effect.flip(topUp(tenant))
        expect(error).toMatchObject({ code: "payment_failed" })
        expect([yield* statusOf(tenant.id), yield* balanceOf(tenant.id)]).toEqual(["failed", 500])
        expect(yield* declinesOf(tenant.id)).toBe(1)
      })
    )

    it.effect("is a trial of its card when it is a decline without an intent (guide/money.md#limits-of-cards)", () =>
      Effect.gen(function* () {
        const tenant = yield* payerWith("pm_card_declinedAtOnce")
        for (let tried = 1; tried <= 3; tried++) {
          const error = yield* Effect.flip(topUp(tenant))
          expect(error.message).toBe("The card was declined. (card_declined)")
          expect(yield* declinesOf(tenant.id)).toBe(tried)
        }
        // An attempt that failed for another reason is none.
        const other = yield* payer
        ;(yield* DoubledStripe.Double).faults.push("lose_request")
        const { id } = yield* topUp(other)
        yield* (yield* Funding).abandon(id as never, null)
        expect(yield* declinesOf(other.id)).toBe(0)
      })
    )

    for (const status of [400, 401, 403, 404])
      it.effect(`does not decide over a refund that is refused with ${status}`, () =>
        Effect.gen(function* () {
          const funding = yield* Funding
          const double = yield* DoubledStripe.Double
          const tenant = yield* payer
          const { id } = yield* topUp(tenant)
          // The money went back, and the answer is wrong; then the looks are refused as well.
          double.answersInstead = () => refused(status)
          const refund = yield* funding.refund(id as never, 400, "asked for")
          expect(refund.status).toBe("pending")
          yield* again
          double.answersInstead = () => null
          yield* again
          expect(yield* balanceOf(tenant.id)).toBe(1_100)
          expect(double.refunds.filter(({ metadata }) => metadata?.["refund"] === refund.id)).toHaveLength(1)
        })
      )

    for (const [wasMade, outcome, booked, status, atLast, difference] of [
      [true, "made", 1_100, "succeeded", 1_100, 0],
      [true, "not_made", 1_500, "failed", 1_100, 0],
      [false, "not_made", 1_500, "failed", 1_500, 0],
      [false, "made", 1_100, "succeeded", 1_100, 400]
    ] as const)
      it.effect(
        `blocks no refund for ever: the operator settles it as ${outcome}, and it was ${wasMade ? "" : "not "}made`,
        () =>
          Effect.gen(function* () {
            const funding = yield* Funding
            const double = yield* DoubledStripe.Double
            const sql = yield* SqlClient.SqlClient
            const tenant = yield* payer
            const { id } = yield* topUp(tenant)
            double.faults.push(wasMade ? "lose_answer" : "lose_request")
            const refund = yield* funding.refund(id as never, 400, "asked for")
            // The key is not accepted any more.
            double.answersInstead = () => refused(401)
            yield* again
            expect((yield* funding.refunds(tenant.id, 10)).map(({ status }) => status)).toEqual(["pending"])
            expect(yield* Effect.flip(funding.refund(id as never, 100, null))).toMatchObject({ code: "conflict" })

            const settle = (as: "made" | "not_made") => funding.settleRefund(refund.id, as, "the account is closed")
            for (let time = 0; time < 2; time++) {
              expect(yield* settle(outcome)).toMatchObject({ status, amountCents: 400 })
              expect(yield* balanceOf(tenant.id)).toBe(booked)
            }
            const other = outcome === "made" ? "not_made" : "made"
            expect(yield* Effect.flip(settle(other))).toMatchObject({ code: "conflict" })
            expect(yield* Effect.flip(funding.settleRefund("none", "made", "no"))).toMatchObject({ code: "not_found" })
            yield* again
            expect(yield* balanceOf(tenant.id)).toBe(booked)
            const lines = yield* sql<{ readonly actor: string; readonly changes: ReadonlyArray<object> }>`
              SELECT actor_type AS actor, changes FROM audit
              WHERE tenant_id = ${tenant.id} AND action = 'topup.refund_settled' AND resource_id = ${id}`
            expect(lines.map(({ actor }) => actor)).toEqual(["operator"])
            expect(lines[0]?.changes).toContainEqual({ field: "reason", from: null, to: "the account is closed" })

            // The key of the account is set again, and it reports what has happened, twice.
            double.answersInstead = () => null
            if (wasMade)
              for (let time = 0; time < 2; time++) {
                const payload = (double.events.at(-1) ?? "").replace("evt_", `evt_${time}`)
                yield* funding.receive(Buffer.from(payload), double.signed(payload)["stripe-signature"] ?? "")
                yield* again
              }
            const { difference_cents } = yield* funding.reconcile(tenant.id)
            expect([difference_cents, yield* balanceOf(tenant.id)]).toEqual([difference, atLast])
            const last = wasMade ? "succeeded" : status
            expect((yield* funding.refunds(tenant.id, 10)).map(({ status }) => status)).toEqual([last])
            expect(yield* Features.ledgerAddsUp).toBe(true)
            // A refund that was made may come back from the card's bank later.
            if (wasMade) {
              for (const made of double.refunds) if (made.metadata?.["refund"] === refund.id) made.status = "failed"
              const payload = (double.events.at(-1) ?? "").replace("evt_", "evt_failed")
              yield* funding.receive(Buffer.from(payload), double.signed(payload)["stripe-signature"] ?? "")
              yield* again
              expect(yield* balanceOf(tenant.id)).toBe(1_500)
              expect((yield* funding.refunds(tenant.id, 10)).map(({ status }) => status)).toEqual(["failed"])
            }
            // A refund that was not made can be requested again.
            if (last === "failed") {
              expect((yield* funding.refund(id as never, 400, null)).status).toBe("succeeded")
              expect(yield* balanceOf(tenant.id)).toBe(1_100)
            }
          })
      )

    it.effect("does not book a refund or a charge by an answer that names another amount", () =>
      Effect.gen(function* () {
        const funding = yield* Funding
        const double = yield* DoubledStripe.Double
        const tenant = yield* payer
        double.faults.push("other_amount")
        const { id, status } = yield* topUp(tenant)
        expect([status, yield* balanceOf(tenant.id)]).toEqual(["pending", 500])
        yield* again
        expect(yield* balanceOf(tenant.id)).toBe(1_500)
        double.faults.push("other_amount")
        expect((yield* funding.refund(id as never, 400, "asked for")).status).toBe("pending")
        yield* again
        expect(yield* balanceOf(tenant.id)).toBe(1_100)
        const { difference_cents, exceptions } = yield* funding.reconcile(tenant.id)
        expect([difference_cents, exceptions]).toEqual([0, []])
      })
    )

    it.effect("keeps an event whose object is refused because the key is not accepted", () =>
      Effect.gen(function* () {
        const funding = yield* Funding
        const double = yield* DoubledStripe.Double
        const tenant = yield* payer
        const { id } = yield* topUp(tenant)
        const intent = [...double.intents.values()].find((one) => one.metadata["attempt"] === id)
        double.refund(intent?.id ?? "", 300)
        const payload = double.events.at(-1) ?? ""
        double.answersInstead = () => refused(401)
        yield* funding.receive(Buffer.from(payload), double.signed(payload)["stripe-signature"] ?? "")
        for (let looks = 0; looks < 3; looks++) yield* again
        double.answersInstead = () => null
        yield* again
        expect(yield* balanceOf(tenant.id)).toBe(1_200)
      })
    )
  })
})
