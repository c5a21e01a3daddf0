import { Clock, Effect } from "effect"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type { LedgerEntryId } from "../../../domain/Id.ts"
import { empty, Journal } from "../../../runtime/store/journal/Journal.ts"
import * as Machine from "./AttemptMachine.ts"
import * as FundingRepo from "../FundingRepo.ts"
import type { Settling } from "./Settling.ts"

/**
 * The operator gives up an attempt whose outcome nothing reports any more, because its account at the processor is
 * closed or its key is lost. Until then it would block the deletion of its card, auto-recharge and a payout.
 */
export const make = Effect.fnUntraced(function* ({ settle }: Settling) {
  const journal = yield* Journal
  const entropy = yield* Entropy
  const repo = yield* FundingRepo.make

  const found = Effect.fnUntraced(function* (id: LedgerEntryId) {
    return (yield* repo.attempt(id)) ?? (yield* ApiError.of("not_found", "no such top-up"))
  })

  return Effect.fn("Abandoning.abandon")(function* (id: LedgerEntryId, reason: string | null) {
    const { status, tenantId } = yield* found(id)
    if (status !== "pending") return yield* ApiError.of("conflict", `the top-up is ${status}`)
    const line = Audit.line({
      tenantId,
      at: yield* Clock.currentTimeMillis,
      seed: entropy.hex(16),
      actor: yield* Audit.operator,
      action: "topup.abandoned",
      resourceId: id,
      changes: [{ field: "reason", from: null, to: reason }]
    })
    yield* journal.commitAsked({ ...empty, audit: [line] })
    yield* settle(id, { intent: null, decline: Machine.abandoned, isTrial: false })
    return yield* found(id)
  }, Effect.uninterruptible)
})
