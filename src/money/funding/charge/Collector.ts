import { Clock, Data, Effect } from "effect"
import * as Id from "../../../domain/Id.ts"
import type { Job } from "../../../runtime/job/Jobs.ts"
import { PaymentError, Payments, unknownDecline } from "../../../ports/payment/Payments.ts"
import * as Machine from "./AttemptMachine.ts"
import type { Customers } from "../Customers.ts"
import * as FundingRepo from "../FundingRepo.ts"
import type { RefusedOutcomes } from "./RefusedOutcomes.ts"
import type { Outcome, Settling } from "./Settling.ts"

/** A job whose key is the attempt. Its row is part of the attempt's transaction. */
export const kind = "funding.collect"

/** The processor has not reported the outcome yet, so the job is retried. */
class StillPending extends Data.TaggedError("StillPending")<{ readonly detail: string }> {
  override get message() {
    return this.detail
  }
}

/** The clocks of two companies differ, and ours may have been a day ahead when the attempt was made. */
const slackMs = 25 * 3_600_000

/**
 * Brings attempts to their end: charges the card, or asks whether an earlier attempt of the job has charged it. Every
 * result goes through `Settling`.
 *
 * A refusal is no result, because an earlier request may have charged the card. Only a look at the account that has the
 * customer shows that there is no charge.
 */
export const make = Effect.fnUntraced(function* (
  { settle }: Settling,
  outcomes: RefusedOutcomes,
  customers: Customers
) {
  const payments = yield* Payments
  const repo = yield* FundingRepo.make

  const find = (attempt: Machine.Attempt, now: number) =>
    attempt.intentId === null
      ? payments.find({
          customerId: attempt.customerId,
          attemptId: attempt.id,
          sinceMs: Math.min(attempt.createdAt, now) - slackMs
        })
      : payments.intent(attempt.intentId)

  const charge = (attempt: Machine.Attempt): Effect.Effect<Outcome, PaymentError> =>
    payments
      .charge({
        key: attempt.id,
        attemptId: attempt.id,
        tenantId: attempt.tenantId,
        customerId: attempt.customerId,
        cardId: attempt.cardId,
        amountCents: attempt.amountCents,
        isOffSession: attempt.kind === "auto_recharge",
        description: attempt.kind === "topup" ? "Top-up" : "Auto-recharge"
      })
      .pipe(
        Effect.map((intent) => ({ intent })),
        Effect.catchIf(
          ({ reason }) => reason === "refused" || reason === "declined" || reason === "gone",
          Effect.fnUntraced(function* ({ detail, reason }) {
            const intent = yield* find(attempt, yield* Clock.currentTimeMillis)
            if (intent !== null) return { intent }
            // No earlier request has charged the card or still will: one that is under way would have answered this one
            // with a conflict, the intent of one that has ended would have been found, and none may come any more at a
            // customer that was deleted.
            yield* Effect.logWarning("the payment processor refuses a charge", { attempt: attempt.id, detail })
            const isGone = yield* customers.isGone(attempt.tenantId, attempt.customerId)
            if (isGone) return { intent, decline: Machine.cardGone, isTrial: false }
            // A thief learns as much from a card that is declined before there is an intent.
            return { intent, decline: reason === "declined" ? unknownDecline : Machine.refused, isTrial: true }
          })
        )
      )

  /** Null: the processor has no intent for it, and none may be requested now. */
  const ask = Effect.fnUntraced(function* (attempt: Machine.Attempt, isFirstTry: boolean) {
    const began = yield* Clock.currentTimeMillis
    if (Machine.first(isFirstTry, attempt, began) === "charge") return yield* charge(attempt)
    const found = yield* find(attempt, began)
    const now = yield* Clock.currentTimeMillis
    if (found === null) {
      const next = Machine.absent(attempt, now)
      if (next === "charge") return yield* charge(attempt)
      return next === "give_up" ? { intent: null, decline: Machine.neverCharged, isTrial: false } : null
    }
    return { intent: Machine.present(attempt, found, now) === "cancel" ? yield* payments.cancel(found.id) : found }
  })

  const collect = Effect.fn("Collector.collect")(function* (id: Id.LedgerEntryId, isFirstTry: boolean) {
    const attempt = yield* repo.attempt(id)
    if (attempt === null || attempt.status !== "pending") return yield* outcomes.known(id)
    if (attempt.processor !== payments.name)
      return yield* new StillPending({ detail: `the attempt is of the processor ${attempt.processor}` })
    const outcome: Outcome | null = yield* Effect.catchTag(ask(attempt, isFirstTry), "PaymentError", (error) =>
      Effect.andThen(outcomes.failed(id, error), Effect.fail(new StillPending({ detail: error.detail })))
    )
    yield* outcomes.known(id)
    if (outcome !== null) yield* settle(id, outcome)
    const after = yield* repo.attempt(id)
    if (after?.status === "pending")
      return yield* new StillPending({ detail: "the payment processor has not told the outcome yet" })
  })

  return {
    kind,
    concurrency: 8,
    timeoutMs: 90_000,
    // An attempt is asked for until its outcome is known, which may need the operator.
    retry: { attempts: Infinity, firstMs: 5_000, maxMs: 300_000 },
    run: ({ attempt, key }) => collect(Id.LedgerEntryId.make(key), attempt === 1)
  } satisfies Job
})
