import * as Timestamp from "../../../domain/time/Timestamp.ts"
import type { Payout } from "../../../money/funding/Funding.ts"

/** The payout as the operator reads it; null when it was never requested. */
export const of = (payout: Payout | null) => {
  if (payout === null) return null
  const { finishedAt, leftCents, refunds, requestedAt, round } = payout
  const cents = (status: string) =>
    refunds.reduce((sum, refund) => sum + (refund.status === status ? refund.amountCents : 0), 0)
  return {
    status: finishedAt === null ? "under_way" : "finished",
    requested_at: Timestamp.format(requestedAt),
    finished_at: Timestamp.formatOrNull(finishedAt),
    refunded_cents: cents("succeeded"),
    pending_cents: cents("pending"),
    left_cents: leftCents,
    /** The refunds of this round that cards refused. */
    failed: refunds
      .filter((refund) => refund.round === round && refund.status === "failed")
      .map(({ amountCents, attemptId, failure }) => `${attemptId}: ${amountCents} cents (${failure ?? "failed"})`)
  }
}

export const isSound = ({ payout }: { readonly payout: ReturnType<typeof of> }): boolean =>
  payout === null || payout.failed.length === 0
