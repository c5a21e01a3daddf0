import { Clock, Effect } from "effect"
import { ApiError } from "../../../domain/ApiError.ts"
import type { Rendered } from "../../../runtime/idempotency/Slot.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import { Jobs } from "../../../runtime/job/Jobs.ts"
import { Payments } from "../../../ports/payment/Payments.ts"
import * as FundingRepo from "../FundingRepo.ts"
import type { Reversals } from "./Reversals.ts"

const kind = "funding.processor_event"

const forged = ApiError.of("invalid_request", "the signature is not the payment processor's, or too old")

const received: Rendered = { status: 200, body: JSON.stringify({ received: true }) }

/**
 * Events from the processor. Each is stored by its id and answered; after that, a job fetches the object of the event
 * and applies it. So a repeated event changes nothing, and an early or late one applies the present state.
 */
export const make = Effect.fnUntraced(function* (reversals: Reversals) {
  const { transaction } = yield* Sql.make
  const jobs = yield* Jobs
  const payments = yield* Payments
  const repo = yield* FundingRepo.make

  const apply = Effect.fn("ProcessorEvents.apply")(function* (id: string) {
    const subject = yield* repo.eventSubject(payments.name, id)
    switch (subject?.type) {
      case "intent":
        return yield* reversals.intent(yield* payments.intent(subject.id))
      case "refunds":
        return yield* reversals.refunds(subject.id, yield* payments.refunds(subject.id))
      case "dispute":
        return yield* reversals.dispute(yield* payments.dispute(subject.id))
      case undefined:
        return
    }
  })

  jobs.declare({
    kind,
    concurrency: 4,
    timeoutMs: 90_000,
    retry: { attempts: 100, firstMs: 2_000, maxMs: 3_600_000 },
    run: ({ key }) =>
      Effect.catchIf(
        apply(key),
        // The processor does not know the object or does not show it, so waiting does not help.
        ({ reason }) => reason !== "unknown" && reason !== "denied",
        (error) => Effect.logWarning("an event of the payment processor was left", { event: key, detail: error.detail })
      )
  })

  return Effect.fn("ProcessorEvents.receive")(function* (body: Uint8Array, signature: string) {
    const now = yield* Clock.currentTimeMillis
    const event = payments.verify({ body, signature, nowMs: now })
    if (event === null) return yield* forged
    yield* Effect.gen(function* () {
      const isNew = yield* repo.insertEvent(payments.name, event, now)
      if (isNew && event.subject !== null) yield* jobs.enqueue({ kind, key: event.id, tenantId: null })
    }).pipe(transaction)
    return received
  }, Effect.uninterruptible)
})
