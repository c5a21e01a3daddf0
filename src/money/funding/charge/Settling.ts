import { Clock, Effect, Metric } from "effect"
import { Accounts } from "../../account/Account.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import type { LedgerEntryId } from "../../../domain/Id.ts"
import * as Timestamp from "../../../domain/time/Timestamp.ts"
import { Letters } from "../../../ports/letter/Letter.ts"
import type { Decline, Intent } from "../../../ports/payment/Payments.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import { empty, Journal, type MoneyRow } from "../../../runtime/store/journal/Journal.ts"
import * as Machine from "./AttemptMachine.ts"
import * as AutoRechargeMachine from "../recharge/AutoRechargeMachine.ts"
import * as FundingLetters from "../FundingLetters.ts"
import * as CardTrials from "../CardTrials.ts"
import * as FundingRepo from "../FundingRepo.ts"

/** An intent of the processor, or the decline when there will be none. */
export type Outcome =
  | { readonly intent: Intent }
  /** `isTrial`: the card was tried, so it counts for the limits of cards. */
  | { readonly intent: null; readonly decline: Decline; readonly isTrial: boolean }

const attempts = Metric.counter("payment_attempts_total", {
  description: "Attempts to charge a card, by kind and by how they ended"
})

/**
 * The only way from an intent to the ledger, src/money/README.md#cards. Answer, webhook and sweep all end here, in any
 * order and any number. The lock of the attempt serializes them, and the first of them moves the money.
 *
 * Status, ledger entry, audit line, letter and the change to auto-recharge are one transaction.
 */
export const make = Effect.gen(function* () {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const accounts = yield* Accounts
  const letters = yield* Letters
  const repo = yield* FundingRepo.make
  const trials = yield* CardTrials.make

  const cardOf = Effect.fnUntraced(function* ({ paymentMethodId, processor, tenantId }: Machine.Attempt) {
    const method = yield* repo.method(tenantId, processor, paymentMethodId)
    return method === null ? "a card" : `${method.brand} ending in ${method.last4}`
  })

  /** Updates auto-recharge after the end of one of its attempts. */
  const recharged = Effect.fnUntraced(function* (attempt: Machine.Attempt, decline: Decline | null, at: number) {
    if (attempt.kind !== "auto_recharge") return
    const before = yield* repo.lockRecharge(attempt.tenantId)
    if (before === null) return
    const after = {
      ...before,
      ...(decline === null
        ? AutoRechargeMachine.succeeded(before, at)
        : AutoRechargeMachine.failed(before, decline, at))
    }
    yield* repo.putRecharge(attempt.tenantId, after)
    if (decline === null) return
    const card = yield* cardOf(attempt)
    const to = { tenantId: attempt.tenantId, audience: "billing" } as const
    if (!before.enabled || after.enabled) {
      const nextTry = after.nextTryAt === null ? null : Timestamp.format(after.nextTryAt)
      const letter = FundingLetters.declined(attempt, card, decline.message, nextTry)
      return yield* letters.postToWithin({ ...to, cause: `recharge_failed:${attempt.id}`, letter })
    }
    const reason = after.disabledReason ?? "declined"
    yield* letters.postToWithin({
      ...to,
      cause: `recharge_disabled:${attempt.id}`,
      letter: FundingLetters.disabled(card, reason)
    })
    yield* journal.commitWithin({
      ...empty,
      audit: [
        Audit.line({
          tenantId: attempt.tenantId,
          at,
          seed: attempt.id,
          actor: Audit.system,
          action: "auto_recharge.disabled",
          resourceId: attempt.tenantId,
          changes: [{ field: "enabled", from: true, to: false }]
        })
      ]
    })
  })

  const succeed = Effect.fnUntraced(function* (attempt: Machine.Attempt, intent: Intent, at: number) {
    const card = yield* cardOf(attempt)
    yield* repo.succeeded(attempt.id, intent.id, at)
    const credit: MoneyRow = {
      id: attempt.id,
      tenantId: attempt.tenantId,
      cause: causeOf(attempt.id),
      type: attempt.kind,
      amountCents: attempt.amountCents,
      description: attempt.kind === "topup" ? `Top-up with ${card}` : `Auto-recharge with ${card}`,
      referenceType: "payment_method",
      referenceId: attempt.paymentMethodId,
      at
    }
    const { balanceCents } = yield* journal.commitWithin({
      ...empty,
      money: [credit],
      audit: [
        lineOf(attempt, at, {
          action: "balance.topped_up",
          resourceType: "balance",
          resourceId: attempt.tenantId,
          changes: [
            { field: "amount_cents", from: null, to: attempt.amountCents },
            { field: "ledger_entry", from: null, to: attempt.id }
          ]
        })
      ]
    })
    yield* letters.postToWithin({
      cause: `receipt:${attempt.id}`,
      tenantId: attempt.tenantId,
      audience: "billing",
      letter: FundingLetters.receipt(attempt, card, balanceCents ?? 0)
    })
    yield* recharged(attempt, null, at)
  })

  const fail = Effect.fnUntraced(function* (
    attempt: Machine.Attempt,
    intentId: string | null,
    decline: Decline,
    at: number
  ) {
    yield* repo.failed(attempt.id, intentId, decline, at)
    yield* journal.commitWithin({
      ...empty,
      audit: [
        lineOf(attempt, at, {
          action: "topup.failed",
          resourceType: "topup",
          resourceId: attempt.id,
          changes: [{ field: "failure_code", from: null, to: decline.code }]
        })
      ]
    })
    yield* recharged(attempt, decline, at)
  })

  const settle = Effect.fn("Settling.settle")(function* (attemptId: LedgerEntryId, outcome: Outcome) {
    const settled = yield* Effect.gen(function* () {
      const attempt = yield* repo.lockAttempt(attemptId)
      if (attempt === null) return null
      const at = yield* Clock.currentTimeMillis
      const { intent } = outcome
      const settlement: Machine.Settlement =
        intent !== null
          ? Machine.settle(attempt, intent)
          : attempt.status === "pending"
            ? { type: "failed", decline: outcome.decline }
            : { type: "unchanged" }
      switch (settlement.type) {
        case "begun":
          if (intent !== null) yield* repo.started(attempt.id, intent.id)
          break
        case "succeeded":
          if (intent !== null) yield* succeed(attempt, intent, at)
          break
        case "failed":
          yield* fail(attempt, intent?.id ?? null, settlement.decline, at)
          if (outcome.intent === null ? outcome.isTrial : outcome.intent.status === "declined")
            yield* trials.declinedWithin(attempt)
          break
        case "mismatch":
          yield* Effect.logError("a payment is not what was asked for; nothing was credited", {
            attempt: attempt.id,
            intent: intent?.id,
            detail: settlement.detail
          })
          break
        case "unchanged":
          break
      }
      return { attempt, settlement }
    }).pipe(transaction)
    if (settled === null) return
    const { attempt, settlement } = settled
    if (settlement.type !== "succeeded" && settlement.type !== "failed") return
    yield* Metric.update(Metric.withAttributes(attempts, { kind: attempt.kind, outcome: settlement.type }), 1)
    yield* accounts.moneyMoved(attempt.tenantId)
  }, Effect.uninterruptible)

  return { settle } as const
})

export type Settling = Effect.Success<typeof make>

const causeOf = (attemptId: LedgerEntryId): string => `topup:${attemptId}`

const lineOf = (
  attempt: Machine.Attempt,
  at: number,
  of: Pick<Parameters<typeof Audit.line>[0], "action" | "resourceType" | "resourceId" | "changes">
) => Audit.line({ tenantId: attempt.tenantId, at, seed: attempt.id, actor: attempt.actor, ip: attempt.ip, ...of })
