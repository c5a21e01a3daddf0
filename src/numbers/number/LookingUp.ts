import { Clock, Effect } from "effect"
import { Accounts } from "../../money/account/Account.ts"
import { Entropy } from "../../runtime/process/Entropy.ts"
import type * as Audit from "../../runtime/audit/Audit.ts"
import { Billing } from "../../money/billing/Billing.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Id from "../../domain/Id.ts"
import * as Money from "../../domain/Money.ts"
import { type Asked, Lookup } from "../../ports/lookup/Lookup.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import { noDimensions, type UsageRow } from "../../runtime/store/usage/UsageRow.ts"
import { view } from "./LookupView.ts"

/**
 * Looks numbers up, guide/numbers.md#lookup. The price is reserved before the lookup and debited after the answer, so a
 * missing answer costs nothing, and no answer is given that cannot be paid.
 */
export const make = Effect.gen(function* () {
  const accounts = yield* Accounts
  const billing = yield* Billing
  const entropy = yield* Entropy
  const journal = yield* Journal
  const lookup = yield* Lookup

  const find = (phoneNumber: string, asked: Asked) =>
    Effect.catchTag(lookup.find(phoneNumber, asked), "LookupError", (error) =>
      Effect.andThen(
        Effect.logWarning("a number could not be looked up", error),
        Effect.fail(ApiError.of("upstream_error", "the number cannot be looked up right now; try again"))
      )
    )

  return Effect.fn("Numbers.lookup")(function* (caller: Audit.Caller, phoneNumber: string, asked: Asked) {
    const { tenantId } = caller
    const cents = Money.centsFromMicro(yield* billing.lookupPrice)
    const seed = entropy.hex(16)
    const counted = (at: number): UsageRow => ({
      tenantId,
      dimensions: noDimensions,
      counted: [{ id: `lookup:${seed}`, at, figures: { lookups: 1 } }]
    })
    if (cents === 0) {
      const found = yield* find(phoneNumber, asked)
      yield* journal.commitAsked({ ...empty, usage: counted(yield* Clock.currentTimeMillis) })
      return view(phoneNumber, found, 0)
    }
    // The reservation has a separate id, which no order has.
    const request = Id.derive(seed, "order")
    yield* accounts.reserve(tenantId, request, { purpose: "order", offers: [cents] })
    return yield* Effect.gen(function* () {
      const found = yield* find(phoneNumber, asked)
      const money = {
        id: Id.derive(seed, "ledger"),
        tenantId,
        cause: `lookup:${seed}`,
        type: "lookup_charge",
        amountCents: -cents,
        description: `Lookup of ${phoneNumber}`,
        referenceType: "lookup",
        referenceId: phoneNumber,
        at: yield* Clock.currentTimeMillis
      } as const
      yield* journal.commitAsked({ ...empty, money: [money], usage: counted(money.at) })
      return view(phoneNumber, found, cents)
    }).pipe(Effect.ensuring(accounts.released(tenantId, request)))
  })
})
