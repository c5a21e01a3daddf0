import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Id from "../../../../src/domain/Id.ts"
import * as Machine from "../../../../src/money/funding/charge/AttemptMachine.ts"
import { type Intent, type IntentStatus, unknownDecline } from "../../../../src/ports/payment/Payments.ts"

const hour = 3_600_000

const attempt: Machine.Attempt = {
  id: Id.derive("attempt", "ledger"),
  tenantId: Id.deriveUuid("payer", "tenant"),
  processor: "stripe",
  kind: "topup",
  amountCents: 1_000,
  paymentMethodId: Id.derive("card", "pm"),
  customerId: "cus_1",
  cardId: "pm_1",
  status: "pending",
  intentId: null,
  failureCode: null,
  failureMessage: null,
  actor: { type: "system", id: null, name: null },
  ip: null,
  createdAt: 0,
  settledAt: null
}

const intent = (status: IntentStatus, fields: Partial<Intent> = {}): Intent => ({
  id: "pi_1",
  status,
  customerId: "cus_1",
  amountCents: 1_000,
  receivedCents: status === "succeeded" ? 1_000 : 0,
  currency: "usd",
  attemptId: attempt.id,
  clientSecret: null,
  decline: null,
  ...fields
})

const typeOf = (of: Machine.Attempt, status: IntentStatus) => Machine.settle(of, intent(status)).type

describe("an attempt to charge a card (src/money/README.md#cards)", () => {
  const rows: ReadonlyArray<readonly [Machine.Attempt["status"], IntentStatus, Machine.Settlement["type"]]> = [
    ["pending", "succeeded", "succeeded"],
    ["pending", "processing", "begun"],
    ["pending", "requires_action", "begun"],
    ["pending", "declined", "failed"],
    ["pending", "canceled", "failed"],
    // Money that was taken is credited, however late.
    ["failed", "succeeded", "succeeded"],
    ["failed", "processing", "unchanged"],
    ["failed", "requires_action", "unchanged"],
    ["failed", "declined", "unchanged"],
    ["failed", "canceled", "unchanged"],
    ["succeeded", "succeeded", "unchanged"],
    ["succeeded", "processing", "unchanged"],
    ["succeeded", "requires_action", "unchanged"],
    ["succeeded", "declined", "unchanged"],
    ["succeeded", "canceled", "unchanged"]
  ]
  for (const [status, told, wanted] of rows)
    it(`that is ${status} is ${wanted} when its intent is ${told}`, () =>
      expect(typeOf({ ...attempt, status }, told)).toBe(wanted))

  it("says nothing new when its intent is known", () =>
    expect(typeOf({ ...attempt, intentId: "pi_1" }, "processing")).toBe("unchanged"))

  it("fails with what the processor says, or that nobody confirmed it", () => {
    const decline = { ...unknownDecline, code: "insufficient_funds" }
    expect(Machine.settle(attempt, intent("declined", { decline }))).toEqual({ type: "failed", decline })
    expect(Machine.settle(attempt, intent("canceled"))).toMatchObject({ decline: { code: "canceled" } })
  })

  const wrong: ReadonlyArray<readonly [string, Partial<Intent>]> = [
    ["another attempt's", { attemptId: Id.derive("other", "ledger") }],
    ["nobody's", { attemptId: null }],
    ["another customer's", { customerId: "cus_2" }],
    ["in another currency", { currency: "eur" }],
    ["of another amount", { receivedCents: 999 }],
    ["of a hundred times as much", { receivedCents: 100_000 }]
  ]
  for (const [what, fields] of wrong)
    it(`takes no intent that is ${what}`, () => {
      expect(Machine.settle(attempt, intent("succeeded", fields)).type).toBe("mismatch")
    })

  it("takes no second intent", () =>
    expect(Machine.settle({ ...attempt, intentId: "pi_0" }, intent("succeeded")).type).toBe("mismatch"))

  it("is never charged again from 23 hours on, and given up only when no charge can be under way", () => {
    expect(Machine.absent(attempt, 23 * hour - 1)).toBe("charge")
    expect(Machine.absent(attempt, 23 * hour)).toBe("wait")
    expect(Machine.absent(attempt, 23.5 * hour)).toBe("give_up")
    // After the clock was set back, the key and the list prevent a second charge.
    expect(Machine.absent(attempt, -hour)).toBe("charge")
  })

  it("is charged without a look on the first try only, and while its key is surely remembered", () => {
    const first = (isFirstTry: boolean, ageMs: number) => Machine.first(isFirstTry, attempt, ageMs)
    expect([first(true, 0), first(false, 0)]).toEqual(["charge", "find"])
    // A process that stopped gave its attempts back, or the operator has revived the job.
    expect([first(true, 23 * hour - 1), first(true, 23 * hour)]).toEqual(["charge", "find"])
    expect(first(true, -1)).toBe("find")
  })

  it("may be confirmed for an hour", () => {
    expect(Machine.present(attempt, intent("requires_action"), hour - 1)).toBe("settle")
    expect(Machine.present(attempt, intent("requires_action"), hour)).toBe("cancel")
    expect(Machine.present(attempt, intent("processing"), hour)).toBe("settle")
  })

  it.prop(
    "is credited once, whatever is told of it and in whatever order",
    [Schema.Array(Schema.Literals(["succeeded", "processing", "requires_action", "declined", "canceled"]))],
    ([told]) => {
      let state = attempt
      let credits = 0
      for (const status of told) {
        const settled = Machine.settle(state, intent(status))
        if (settled.type === "succeeded") credits++
        if (settled.type === "succeeded" || settled.type === "failed") state = { ...state, status: settled.type }
      }
      expect(credits).toBe(told.includes("succeeded") ? 1 : 0)
      expect(state.status === "succeeded").toBe(told.includes("succeeded"))
    }
  )
})
