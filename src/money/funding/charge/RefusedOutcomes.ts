import { Effect, Metric } from "effect"
import type { PaymentError } from "../../../ports/payment/Payments.ts"

const count = Metric.gauge("payment_outcomes_refused", {
  description: "Charges and refunds whose outcome the card processor refuses to report; 0 when all is well"
})

/**
 * The operator's alarm about charges and refunds whose outcome the processor refuses to report, because the key or the
 * account is another one. Each refusal is an error in the log, and the metric is the number of them in this process.
 * They are bounded by the attempts that may be pending.
 */
export const make = Effect.sync(() => {
  const ids = new Set<string>()
  const updated = Effect.suspend(() => Metric.update(count, ids.size))

  return {
    /** The job of this attempt or refund has failed by this error. */
    failed: Effect.fnUntraced(function* (id: string, { detail, reason }: PaymentError) {
      if (reason === "unknown") return
      ids.add(id)
      yield* Effect.logError("the card processor refuses to report the outcome of a payment; it is asked again", {
        payment: id,
        detail
      })
      yield* updated
    }),
    /** The outcome is known. */
    known: (id: string) => Effect.suspend(() => (ids.delete(id) ? updated : Effect.void))
  } as const
})

export type RefusedOutcomes = Effect.Success<typeof make>
