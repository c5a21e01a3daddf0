import { Clock, Effect } from "effect"
import * as Audit from "../../../runtime/audit/Audit.ts"
import * as Id from "../../../domain/Id.ts"
import { Jobs } from "../../../runtime/job/Jobs.ts"
import { Payments } from "../../../ports/payment/Payments.ts"
import { empty, Journal } from "../../../runtime/store/journal/Journal.ts"
import * as Machine from "./AttemptMachine.ts"
import * as Collector from "./Collector.ts"
import * as CardTrials from "../CardTrials.ts"
import * as FundingRepo from "../FundingRepo.ts"

/** Begins attempts, for top-ups and for auto-recharge. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const jobs = yield* Jobs
  const payments = yield* Payments
  const repo = yield* FundingRepo.make
  const trials = yield* CardTrials.make

  return {
    /** Why the card is not charged now; null when it may be. `ip`: the address of the request; null: there is none. */
    refusal: Effect.fnUntraced(function* (method: FundingRepo.Method, ip: string | null) {
      const since = (yield* Clock.currentTimeMillis) - Machine.declinesWithinMs
      const refusal = Machine.refusal(yield* repo.tried(method, payments.name, since))
      if (refusal !== null) return refusal
      const by = yield* trials.refusesCharge({ tenantId: method.tenantId, ip })
      return by === "workspace" ? "cards_declined" : by === "address" ? "address_declined" : null
    }),
    /** Inside the caller's transaction, writes the row and the job that brings it to its end. */
    startWithin: Effect.fnUntraced(function* (of: {
      readonly seed: string
      readonly kind: Machine.Attempt["kind"]
      readonly method: FundingRepo.Method
      readonly customerId: string
      readonly amountCents: number
      readonly actor: Audit.Actor
      readonly ip: string | null
      /** The hashed Idempotency-Key of the request; null when it has none. */
      readonly slot: string | null
    }) {
      const { tenantId } = of.method
      const at = yield* Clock.currentTimeMillis
      const attempt: Machine.Attempt = {
        id: Id.derive(of.seed, "ledger"),
        tenantId,
        processor: payments.name,
        kind: of.kind,
        amountCents: of.amountCents,
        paymentMethodId: of.method.id,
        customerId: of.customerId,
        cardId: of.method.cardId,
        status: "pending",
        intentId: null,
        failureCode: null,
        failureMessage: null,
        actor: of.actor,
        ip: of.ip,
        createdAt: at,
        settledAt: null
      }
      yield* repo.insertAttempt(attempt, of.slot)
      yield* jobs.enqueue({ kind: Collector.kind, key: attempt.id, tenantId })
      yield* journal.commitWithin({
        ...empty,
        audit: [
          Audit.line({
            tenantId,
            at,
            seed: of.seed,
            actor: of.actor,
            ip: of.ip,
            action: "topup.created",
            resourceId: attempt.id,
            changes: [
              { field: "amount_cents", from: null, to: of.amountCents },
              { field: "payment_method_id", from: null, to: of.method.id }
            ]
          })
        ]
      })
      return attempt
    })
  } as const
})
