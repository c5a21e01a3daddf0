import { Clock, Data, Effect } from "effect"
import * as Id from "../../../domain/Id.ts"
import type { Job } from "../../../runtime/job/Jobs.ts"
import { type Intent, Payments } from "../../../ports/payment/Payments.ts"
import * as Machine from "./AttemptMachine.ts"
import * as FundingRepo from "../FundingRepo.ts"
import type { Settling } from "./Settling.ts"

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
 */
export const make = Effect.fnUntraced(function* ({ settle }: Settling) {
  const payments = yield* Payments
  const repo = yield* FundingRepo.make

  const charge = (attempt: Machine.Attempt) =>
    payments.charge({
      key: attempt.id,
      attemptId: attempt.id,
      tenantId: attempt.tenantId,
      customerId: attempt.customerId,
      cardId: attempt.cardId,
      amountCents: attempt.amountCents,
      isOffSession: attempt.kind === "auto_recharge",
      description: attempt.kind === "topup" ? "Top-up" : "Auto-recharge"
    })

  const find = (attempt: Machine.Attempt, now: number) =>
    attempt.intentId === null
      ? payments.find({
          customerId: attempt.customerId,
          attemptId: attempt.id,
          sinceMs: Math.min(attempt.createdAt, now) - slackMs
        })
      : payments.intent(attempt.intentId)

  /** Null: the processor has no intent for it, and none may be requested now. */
  const ask = Effect.fnUntraced(function* (attempt: Machine.Attempt, isFirstTry: boolean) {
    const began = yield* Clock.currentTimeMillis
    if (Machine.first(isFirstTry, attempt, began) === "charge") return yield* charge(attempt)
    const found = yield* find(attempt, began)
    const now = yield* Clock.currentTimeMillis
    if (found === null) {
      const next = Machine.absent(attempt, now)
      if (next === "charge") return yield* charge(attempt)
      if (next === "give_up") yield* settle(attempt.id, { intent: null, decline: Machine.neverCharged })
      return null
    }
    return Machine.present(attempt, found, now) === "cancel" ? yield* payments.cancel(found.id) : found
  })

  const collect = Effect.fn("Collector.collect")(function* (id: Id.LedgerEntryId, isFirstTry: boolean) {
    const attempt = yield* repo.attempt(id)
    if (attempt === null || attempt.status !== "pending") return
    if (attempt.processor !== payments.name)
      return yield* new StillPending({ detail: `the attempt is of the processor ${attempt.processor}` })
    const intent: Intent | null = yield* Effect.catchTag(ask(attempt, isFirstTry), "PaymentError", (error) => {
      if (error.reason === "unknown") return Effect.fail(new StillPending({ detail: error.detail }))
      return Effect.as(
        Effect.andThen(
          Effect.logWarning("the payment processor refuses a charge", { attempt: id, detail: error.detail }),
          settle(id, { intent: null, decline: Machine.refused })
        ),
        null
      )
    })
    if (intent !== null) yield* settle(id, { intent })
    const after = yield* repo.attempt(id)
    if (after?.status === "pending")
      return yield* new StillPending({ detail: "the payment processor has not told the outcome yet" })
  })

  return {
    kind,
    concurrency: 8,
    timeoutMs: 90_000,
    // The retries last about 30 hours, which is longer than an attempt can be pending.
    retry: { attempts: 400, firstMs: 5_000, maxMs: 300_000 },
    run: ({ attempt, key }) => collect(Id.LedgerEntryId.make(key), attempt === 1)
  } satisfies Job
})
