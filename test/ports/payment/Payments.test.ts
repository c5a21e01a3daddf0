import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Result } from "effect"
import { randomBytes } from "node:crypto"
import * as NodeOperatorEgress from "../../../src/ports/egress/node/NodeOperatorEgress.ts"
import { OperatorTarget } from "../../../src/ports/egress/OperatorTarget.ts"
import * as DevelopmentPayments from "../../../src/ports/payment/development/DevelopmentPayments.ts"
import { Payments } from "../../../src/ports/payment/Payments.ts"
import * as StripePayments from "../../../src/ports/payment/stripe/StripePayments.ts"
import * as Features from "../../support/service/Features.ts"
import { Double, layer as doubled } from "./DoubledStripe.ts"
import * as PaymentsContract from "./PaymentsContract.ts"
import * as StripeDouble from "./StripeDouble.ts"

const run = randomBytes(6).toString("hex")
const contract = Object.entries(PaymentsContract.tests(run))

describe("the development processor", () => {
  layer(DevelopmentPayments.layer.pipe(Layer.provideMerge(Features.layer)), { excludeTestServices: true })((test) => {
    for (const [name, body] of contract) test.effect(name, () => body)
  })
})

const key = process.env["STRIPE_TEST_KEY"]
const secret = key ?? ""
describe(`Stripe's test mode${key === undefined ? " (not run: STRIPE_TEST_KEY is not set)" : ""}`, () => {
  if (key === undefined) {
    it("is not tried without a key", () => expect(process.env["STRIPE_TEST_KEY"]).toBeUndefined())
    return
  }
  const target = Result.getOrThrow(OperatorTarget.configured("https://api.stripe.com", { plain: false }))
  const live = StripePayments.layer({
    target,
    secretKey: Redacted.make(secret),
    publishableKey: "pk_test",
    webhookSecret: null
  }).pipe(Layer.provide(NodeOperatorEgress.layer()))
  layer(live, { excludeTestServices: true })((test) => {
    for (const [name, body] of contract) test.effect(name, () => body, 60_000)
  })
})

describe("Stripe, by its double", () => {
  layer(doubled, { excludeTestServices: true })((test) => {
    for (const [name, body] of contract) test.effect(name, () => body)

    const saved = Effect.gen(function* () {
      const payments = yield* Payments
      const attemptId = `svc_ledger_${randomBytes(16).toString("hex")}`
      const customerId = yield* payments.createCustomer({ key: `customer:${attemptId}`, tenantId: "t" })
      const { id: cardId } = yield* payments.attach({ customerId, cardId: "pm_card_visa" })
      const of = { tenantId: "t", customerId, cardId, amountCents: 1_000, isOffSession: true, description: "Top-up" }
      return { ...of, key: attemptId, attemptId }
    })

    test.effect(
      "a lost answer, a lost request and a failure are unknown, and a failure is replayed under its key",
      () =>
        Effect.gen(function* () {
          const payments = yield* Payments
          const double = yield* Double
          const reasonOf = (charge: Parameters<(typeof payments)["charge"]>[0]) =>
            Effect.map(Effect.flip(payments.charge(charge)), ({ reason }) => reason)
          for (const fault of ["lose_answer", "lose_request", "fail", "odd_success"] as const) {
            const charge = yield* saved
            double.faults.push(fault)
            expect([fault, yield* reasonOf(charge)]).toEqual([fault, "unknown"])
            if (fault === "fail") expect(yield* reasonOf(charge)).toBe("unknown")
            else expect((yield* payments.charge(charge)).status).toBe("succeeded")
          }
        })
    )

    test.effect("another charge under the same key is unknown: the first may have been made", () =>
      Effect.gen(function* () {
        const payments = yield* Payments
        const charge = yield* saved
        yield* payments.charge(charge)
        expect((yield* Effect.flip(payments.charge({ ...charge, amountCents: 2_000 }))).reason).toBe("unknown")
      })
    )

    test.effect("a refusal says whether it is about our key, the customer or the request", () =>
      Effect.gen(function* () {
        const payments = yield* Payments
        const double = yield* Double
        const charge = yield* saved
        const said = Effect.map(Effect.flip(payments.charge(charge)), ({ reason }) => reason)
        for (const [status, reason] of [
          [400, "refused"],
          [401, "denied"],
          [403, "denied"],
          [404, "refused"],
          [409, "unknown"],
          [429, "unknown"],
          [500, "unknown"]
        ] as const) {
          double.answersInstead = () => StripeDouble.failed(status, { type: "invalid_request_error", message: "no" })
          expect([status, yield* said]).toEqual([status, reason])
        }
        double.answersInstead = () => null
        double.deleteCustomer(charge.customerId)
        expect(yield* payments.customer(charge.customerId)).toBe("deleted")
        const attempt = { ...charge, key: `${charge.key}2`, attemptId: `${charge.attemptId}2` }
        expect((yield* Effect.flip(payments.charge(attempt))).reason).toBe("gone")
        expect((yield* Effect.flip(payments.setup(charge.customerId))).reason).toBe("gone")
        expect(yield* payments.find({ ...attempt, sinceMs: 0 })).toBeNull()
        const back = double.otherAccount()
        expect((yield* Effect.flip(payments.find({ ...attempt, sinceMs: 0 }))).reason).toBe("gone")
        expect((yield* Effect.flip(payments.refunds("pi_of_the_other_account"))).reason).toBe("refused")
        back()
      })
    )

    for (const status of [200, 400, 404] as const)
      test.effect(`payments of a deleted customer are found, whose lists are answered with ${status}`, () =>
        Effect.gen(function* () {
          const payments = yield* Payments
          const double = yield* Double
          const charge = yield* saved
          const { id } = yield* payments.charge(charge)
          double.deleteCustomer(charge.customerId)
          double.listsDeletedWith = status
          const { attemptId, customerId } = charge
          expect((yield* payments.find({ attemptId, customerId, sinceMs: 0 }))?.id).toBe(id)
          expect(yield* payments.find({ attemptId: `${attemptId}2`, customerId, sinceMs: 0 })).toBeNull()
          const movements = yield* payments.movements({ customerId, sinceMs: 0 })
          expect(movements.map(({ intentId }) => intentId)).toEqual([id])
          // A refusal of the list says nothing about a customer that is there.
          const other = yield* saved
          double.answersInstead = (asked) =>
            asked === "GET /v1/payment_intents"
              ? StripeDouble.failed(404, { type: "invalid_request_error", message: "no" })
              : null
          const look = { attemptId: other.attemptId, customerId: other.customerId, sinceMs: 0 }
          expect((yield* Effect.flip(payments.find(look))).reason).toBe("refused")
          double.answersInstead = () => null
          double.listsDeletedWith = 200
        })
      )

    test.effect("lists are read to their end", () =>
      Effect.gen(function* () {
        const payments = yield* Payments
        const charge = yield* saved
        for (let n = 0; n < 120; n++)
          yield* payments.charge({ ...charge, key: `${charge.key}${n}`, attemptId: `${charge.attemptId}${n}` })
        const found = { customerId: charge.customerId, attemptId: `${charge.attemptId}0`, sinceMs: 0 }
        expect((yield* payments.find(found))?.attemptId).toBe(`${charge.attemptId}0`)
        expect(yield* payments.movements({ customerId: charge.customerId, sinceMs: 0 })).toHaveLength(120)
        expect((yield* payments.movements({ customerId: null, sinceMs: 0 })).length).toBeGreaterThanOrEqual(120)
      })
    )

    test.effect("an event counts with a good signature of these minutes only", () =>
      Effect.gen(function* () {
        const { verify } = yield* Payments
        const double = yield* Double
        const object = { object: "payment_intent", id: "pi_1" }
        const body = JSON.stringify({
          id: "evt_1",
          object: "event",
          type: "payment_intent.succeeded",
          data: { object }
        })
        const nowMs = Date.now()
        const said = (headers: Readonly<Record<string, string>>, text = body) =>
          verify({ body: Buffer.from(text), signature: headers["stripe-signature"] ?? "", nowMs })
        const now = Math.floor(nowMs / 1000)
        expect(said(double.signed(body))).toEqual({
          id: "evt_1",
          type: "payment_intent.succeeded",
          subject: { type: "intent", id: "pi_1" }
        })
        expect(said(double.signed(body, now - 299))).not.toBeNull()
        expect(said(double.signed(body, now - 301))).toBeNull()
        expect(said(double.signed(body, now + 30))).not.toBeNull()
        expect(said(double.signed(body, now + 3_600))).toBeNull()
        expect(said(double.signed(body, now, "whsec_other"))).toBeNull()
        expect(said(double.signed(body), body.replace("pi_1", "pi_2"))).toBeNull()
        expect(said({})).toBeNull()
        expect(said({ "stripe-signature": `t=${now},t=${now},v1=00` })).toBeNull()
        for (const odd of ["[]", "null", "7", JSON.stringify({ object: "event" }), JSON.stringify({ id: 1 })])
          expect(said(double.signed(odd), odd)).toBeNull()
      })
    )
  })
})
