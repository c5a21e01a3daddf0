import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { Payments } from "../../../src/ports/payment/Payments.ts"

/** The contract of any card processor, tested with Stripe's test cards. `run` makes the keys of this run unique. */
export const tests = (run: string): Readonly<Record<string, Effect.Effect<void, unknown, Payments>>> => {
  let count = 0
  const attempt = () => `svc_ledger_${run}${String(++count).padStart(32 - run.length, "0")}`

  const customer = (name: string) =>
    Effect.flatMap(Payments, (payments) => payments.createCustomer({ key: `customer:${run}:${name}`, tenantId: name }))

  const charged = Effect.fnUntraced(function* (card: string, isOffSession = false, amountCents = 1_234) {
    const payments = yield* Payments
    const attemptId = attempt()
    const customerId = yield* customer(attemptId)
    const { id: cardId } = yield* payments.attach({ customerId, cardId: card })
    const charge = {
      key: attemptId,
      attemptId,
      tenantId: "contract",
      customerId,
      cardId,
      amountCents,
      isOffSession,
      description: "Contract"
    }
    return { charge, intent: yield* payments.charge(charge), sinceMs: Date.now() - 600_000 }
  })

  return {
    "a customer is one for a key": Effect.gen(function* () {
      expect(yield* customer("same")).toBe(yield* customer("same"))
      expect(yield* customer("same")).not.toBe(yield* customer("other"))
    }),
    "a customer is known, and one that it never had is not": Effect.gen(function* () {
      const payments = yield* Payments
      expect(yield* payments.customer(yield* customer("known"))).toBe("present")
      if (payments.name === "stripe") expect(yield* payments.customer("cus_unknown")).toBe("absent")
    }),
    "a card is set up with a secret": Effect.gen(function* () {
      const setup = yield* (yield* Payments).setup(yield* customer("setup"))
      expect(setup.clientSecret.length).toBeGreaterThan(setup.id.length)
    }),
    "a card is attached, and to nobody else": Effect.gen(function* () {
      const payments = yield* Payments
      const customerId = yield* customer("owner")
      const card = yield* payments.attach({ customerId, cardId: "pm_card_visa" })
      expect(card).toMatchObject({ customerId, brand: "visa", last4: "4242" })
      expect((yield* payments.attach({ customerId, cardId: card.id })).id).toBe(card.id)
      const other = yield* customer("thief")
      expect((yield* Effect.flip(payments.attach({ customerId: other, cardId: card.id }))).reason).toBe("refused")
      yield* payments.detach(card.id)
      yield* payments.detach(card.id)
    }),
    "what is no card is refused, and one that cannot be saved is declined": Effect.gen(function* () {
      const payments = yield* Payments
      const customerId = yield* customer("refused")
      const reason = (cardId: string) =>
        Effect.map(Effect.flip(payments.attach({ customerId, cardId })), (error) => error.reason)
      expect(yield* reason("pm_card_unknown")).toBe("refused")
      expect(yield* reason("pm_card_chargeDeclined")).toBe("declined")
    }),
    "a charge succeeds, is found by its attempt, and is one for its key": Effect.gen(function* () {
      const payments = yield* Payments
      const { charge, intent, sinceMs } = yield* charged("pm_card_visa")
      expect(intent).toMatchObject({
        status: "succeeded",
        amountCents: 1_234,
        receivedCents: 1_234,
        currency: "usd",
        attemptId: charge.attemptId,
        customerId: charge.customerId
      })
      expect((yield* payments.charge(charge)).id).toBe(intent.id)
      const { attemptId, customerId } = charge
      expect((yield* payments.find({ customerId, attemptId, sinceMs }))?.id).toBe(intent.id)
      expect(yield* payments.find({ customerId, attemptId: attempt(), sinceMs })).toBeNull()
      expect((yield* payments.intent(intent.id)).status).toBe("succeeded")
      expect((yield* payments.cancel(intent.id)).status).toBe("succeeded")
    }),
    "a decline is an intent that says why": Effect.gen(function* () {
      const { intent } = yield* charged("pm_card_chargeCustomerFail")
      expect(intent).toMatchObject({ status: "declined", receivedCents: 0 })
      expect(intent.decline).toMatchObject({ code: "generic_decline", needsAuthentication: false, isFinal: false })
    }),
    "a cardholder who is there can confirm, and one who is not declines": Effect.gen(function* () {
      const payments = yield* Payments
      const { intent: present } = yield* charged("pm_card_authenticationRequired")
      expect(present.status).toBe("requires_action")
      expect(present.clientSecret).not.toBeNull()
      expect((yield* payments.cancel(present.id)).status).toBe("canceled")
      const { intent: absent } = yield* charged("pm_card_authenticationRequired", true)
      expect(absent).toMatchObject({ status: "declined", decline: { needsAuthentication: true } })
    }),
    "a refund is one for its key, and its charge and it are movements": Effect.gen(function* () {
      const payments = yield* Payments
      const { charge, intent, sinceMs } = yield* charged("pm_card_visa", true)
      const of = { key: `refund:${charge.key}`, requestId: "1", intentId: intent.id, amountCents: 234 }
      const refund = yield* payments.refund(of)
      expect(refund).toMatchObject({ intentId: intent.id, amountCents: 234, requestId: "1" })
      expect((yield* payments.refund(of)).id).toBe(refund.id)
      expect(yield* payments.refunds(intent.id)).toHaveLength(1)
      const more = payments.refund({ ...of, key: `${of.key} more`, requestId: "2", amountCents: 1_001 })
      expect((yield* Effect.flip(more)).reason).toBe("refused")
      const movements = yield* payments.movements({ customerId: charge.customerId, sinceMs })
      expect(movements.map(({ amountCents, type }) => [type, amountCents])).toEqual([
        ["charge", 1_234],
        ["refund", -234]
      ])
    }),
    "what it does not know is refused": Effect.gen(function* () {
      const payments = yield* Payments
      expect((yield* Effect.flip(payments.intent("pi_unknown"))).reason).toBe("refused")
      expect((yield* Effect.flip(payments.dispute("dp_unknown"))).reason).toBe("refused")
    })
  }
}
