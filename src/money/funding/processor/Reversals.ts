import { Clock, Data, Effect } from "effect"
import { Accounts } from "../../account/Account.ts"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import { Jobs } from "../../../runtime/job/Jobs.ts"
import { Letters } from "../../../ports/letter/Letter.ts"
import { type Dispute, type Intent, PaymentError, Payments, type Refund } from "../../../ports/payment/Payments.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import { empty, Journal, type MoneyRow } from "../../../runtime/store/journal/Journal.ts"
import * as Machine from "../charge/AttemptMachine.ts"
import * as FundingLetters from "../FundingLetters.ts"
import * as FundingRepo from "../FundingRepo.ts"
import type { RefusedOutcomes } from "../charge/RefusedOutcomes.ts"
import type { Settling } from "../charge/Settling.ts"

const refundKind = "funding.refund"

class StillPending extends Data.TaggedError("StillPending")<{ readonly detail: string }> {
  override get message() {
    return this.detail
  }
}

/** A movement of money by a refund or a dispute, keyed by its cause. */
interface Reversal {
  readonly cause: string
  readonly type: "refund" | "adjustment"
  readonly amountCents: number
  readonly description: string
  readonly moved: FundingLetters.Moved
}

const actions: Readonly<Record<FundingLetters.Moved, string>> = {
  refunded: "balance.refunded",
  refund_failed: "balance.refund_failed",
  disputed: "balance.dispute_opened",
  dispute_won: "balance.dispute_won"
}

/**
 * Money that goes back to a card, and that returns from there: refunds by the operator or at the processor, and
 * disputes. They may bring the balance below zero, and then nothing new is admitted.
 *
 * Each is booked by its present state at the processor, under the lock of its attempt. So it counts once, however often
 * and in whatever order it is reported.
 */
export const make = Effect.fnUntraced(function* ({ settle }: Settling, outcomes: RefusedOutcomes) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const jobs = yield* Jobs
  const accounts = yield* Accounts
  const entropy = yield* Entropy
  const payments = yield* Payments
  const letters = yield* Letters
  const repo = yield* FundingRepo.make

  /** Settles the attempt of an intent. Does nothing when the attempt is not one of this service. */
  const intent = (of: Intent) =>
    of.attemptId !== null && Id.is("ledger", of.attemptId) ? settle(of.attemptId, { intent: of }) : Effect.void

  /** A refund may be reported before its charge. */
  const known = Effect.fnUntraced(function* (intentId: string) {
    const attempt = yield* transaction(repo.lockByIntent(payments.name, intentId))
    if (attempt?.status !== "succeeded") yield* intent(yield* payments.intent(intentId))
  })

  /** Books the reversals that are not booked yet, in the transaction of `reversalsOf` and under the attempt's lock. */
  const book = Effect.fnUntraced(function* (
    locked: Effect.Effect<Machine.Attempt | null>,
    reversalsOf: (hasMoved: (cause: string) => Effect.Effect<boolean>) => Effect.Effect<ReadonlyArray<Reversal>>
  ) {
    const at = yield* Clock.currentTimeMillis
    const tenantId = yield* Effect.gen(function* () {
      const attempt = yield* locked
      if (attempt?.status !== "succeeded") return null
      const reversals = yield* reversalsOf(repo.hasMoved)
      if (reversals.length === 0) return null
      const { balanceCents } = yield* journal.commitWithin({
        ...empty,
        money: reversals.map((reversal): MoneyRow => rowOf(attempt, reversal, at)),
        audit: reversals.map(({ amountCents, cause, moved }) =>
          Audit.line({
            tenantId: attempt.tenantId,
            at,
            seed: cause,
            actor: Audit.system,
            action: actions[moved],
            resourceType: "balance",
            resourceId: attempt.tenantId,
            changes: [
              { field: "amount_cents", from: null, to: amountCents },
              { field: "cause", from: null, to: cause }
            ]
          })
        )
      })
      yield* Effect.forEach(
        reversals,
        ({ amountCents, cause, moved }) =>
          letters.postToWithin({
            cause,
            tenantId: attempt.tenantId,
            audience: "billing",
            letter: FundingLetters.reversed(moved, amountCents, attempt.id, balanceCents ?? 0)
          }),
        { discard: true }
      )
      return attempt.tenantId
    }).pipe(transaction)
    if (tenantId !== null) yield* accounts.moneyMoved(tenantId)
  }, Effect.uninterruptible)

  /** A request that was settled as not made is settled again, because the processor's report decides. */
  const settleRequest = Effect.fnUntraced(function* (refund: Refund) {
    if (refund.requestId === null) return
    const request = yield* repo.refund(refund.requestId)
    const status = refund.status === "failed" ? "failed" : "succeeded"
    if (request === null || (request.status === status && request.refundId === refund.id)) return
    const failure = refund.status === "failed" ? "the card's bank did not take it" : null
    yield* repo.settleRefund(request.id, { status, refundId: refund.id, failure }, yield* Clock.currentTimeMillis)
  })

  /** Whether a refund is not the one that was requested here: an answer is wrong, and nothing is booked by it. */
  const isOther = Effect.fnUntraced(function* ({ amountCents, id, requestId }: Refund) {
    const request = requestId === null ? null : yield* repo.refund(requestId)
    if (request === null || request.amountCents === amountCents) return false
    yield* Effect.logError("a refund is not what was asked for; nothing was booked", {
      request: requestId,
      refund: id,
      detail: `it is of ${amountCents} cents, not ${request.amountCents}`
    })
    return true
  })

  const refunds = Effect.fn("Reversals.refunds")(function* (intentId: string, told: ReadonlyArray<Refund>) {
    yield* known(intentId)
    const all = yield* Effect.filter(told, (refund) => Effect.map(isOther(refund), (is) => !is))
    yield* book(repo.lockByIntent(payments.name, intentId), (hasMoved) =>
      Effect.map(
        Effect.forEach(all, (refund) =>
          Effect.gen(function* () {
            yield* settleRequest(refund)
            const asked = refund.requestId === null ? null : causeOf(refund.requestId)
            // The operator may have booked it before the processor reported it.
            const cause = asked !== null && (yield* hasMoved(asked)) ? asked : causeOf(refund.id)
            const booked = yield* hasMoved(cause)
            if (refund.status !== "failed") return booked ? null : refunded(cause, refund)
            return booked && !(yield* hasMoved(`${cause}:failed`)) ? refundFailed(cause, refund) : null
          })
        ),
        (found) => found.filter((reversal) => reversal !== null)
      )
    )
  })

  const dispute = Effect.fn("Reversals.dispute")(function* (of: Dispute) {
    if (of.intentId === null || of.status === "inquiry") return
    yield* known(of.intentId)
    yield* book(repo.lockByIntent(payments.name, of.intentId), (hasMoved) =>
      Effect.gen(function* () {
        const [opened, won] = [`dispute:${of.id}:opened`, `dispute:${of.id}:won`]
        const isBooked = yield* hasMoved(opened)
        if (of.status !== "won") return isBooked ? [] : [disputed(opened, of)]
        // If the beginning of the dispute was never booked, nothing was taken and nothing is given back.
        return isBooked && !(yield* hasMoved(won)) ? [disputeWon(won, of)] : []
      })
    )
  })

  /** In the caller's transaction, after the attempt's lock: writes the refund and the job that carries it out. */
  const askWithin = Effect.fnUntraced(function* ({
    actor,
    ...refund
  }: Parameters<typeof repo.insertRefund>[0] & { readonly actor: Audit.Actor }) {
    const { amountCents, attemptId, createdAt, id, reason, tenantId } = refund
    yield* repo.insertRefund(refund)
    yield* jobs.enqueue({ kind: refundKind, key: id, tenantId })
    yield* journal.commitWithin({
      ...empty,
      audit: [
        Audit.line({
          tenantId,
          at: createdAt,
          seed: id,
          actor,
          action: "topup.refund_requested",
          resourceId: attemptId,
          changes: [
            { field: "amount_cents", from: null, to: amountCents },
            { field: "reason", from: null, to: reason }
          ]
        })
      ]
    })
  })

  /** Waits for one attempt of the job. */
  const carryOutNow = (id: string) => jobs.runNow(refundKind, id)

  /** The operator refunds a top-up, in part or (null) all that is left of it, once for a key. */
  const request = Effect.fn("Reversals.request")(function* (
    attemptId: Id.LedgerEntryId,
    cents: number | null,
    reason: string | null,
    idempotencyKey: string | null = null
  ) {
    const at = yield* Clock.currentTimeMillis
    const seed = idempotencyKey === null ? entropy.hex(16) : `${attemptId} ${idempotencyKey}`
    const id = Id.deriveOpaque(seed, "refund")
    yield* Effect.gen(function* () {
      const attempt = yield* repo.lockAttempt(attemptId)
      if (attempt === null) return yield* ApiError.of("not_found", "no such top-up")
      const before = yield* repo.refund(id)
      if (before !== null) {
        if (cents === null || cents === before.amountCents) return
        return yield* ApiError.of(
          "idempotency_conflict",
          `the key has refunded ${before.amountCents} cents`,
          "idempotency_key"
        )
      }
      if (attempt.status !== "succeeded") return yield* ApiError.of("conflict", `the top-up is ${attempt.status}`)
      if (attempt.processor !== payments.name)
        return yield* ApiError.of("conflict", `the top-up was charged by the processor ${attempt.processor}`)
      const left = attempt.amountCents - (yield* repo.wentBack(attempt.tenantId, attempt.id))
      const amountCents = cents ?? left
      if (amountCents <= 0 || amountCents > left)
        return yield* ApiError.of("invalid_request", `${left} cents of the top-up can be refunded`)
      if ((yield* repo.pendingRefund(attempt.id)) !== null)
        return yield* ApiError.of("conflict", "a refund of this top-up is under way")
      const { tenantId } = attempt
      const refund = { id, attemptId, tenantId, amountCents, reason, payoutRound: null, createdAt: at }
      yield* askWithin({ ...refund, actor: yield* Audit.operator })
    }).pipe(transaction)
    yield* carryOutNow(id)
    return (yield* repo.refund(id)) ?? (yield* Effect.die(new Error(`the refund ${id} has gone`)))
  }, Effect.uninterruptible)

  /**
   * The operator settles a pending refund whose outcome the processor does not report. When the processor reports it
   * after all, its report decides: a refund that was made is booked once, and one that failed is taken back.
   */
  const decide = Effect.fn("Reversals.decide")(function* (id: string, outcome: "made" | "not_made", reason: string) {
    const row = (yield* repo.refund(id)) ?? (yield* ApiError.of("not_found", "no such refund"))
    const { amountCents, attemptId, tenantId } = row
    const [at, actor, seed] = [yield* Clock.currentTimeMillis, yield* Audit.operator, entropy.hex(16)]
    const status = outcome === "made" ? "succeeded" : "failed"
    const failure = outcome === "made" ? null : "the operator has settled it as not made"
    yield* book(repo.lockAttempt(attemptId), () =>
      Effect.gen(function* () {
        if ((yield* repo.lockRefund(id))?.status !== "pending") return []
        yield* repo.settleRefund(id, { status, refundId: null, failure }, at)
        const changes = [
          { field: "refund", from: null, to: id },
          { field: "status", from: "pending", to: status },
          { field: "amount_cents", from: null, to: amountCents },
          { field: "reason", from: null, to: reason }
        ]
        const line = { tenantId, at, seed, actor, action: "topup.refund_settled", resourceId: attemptId, changes }
        yield* journal.commitWithin({ ...empty, audit: [Audit.line(line)] })
        return outcome === "made" ? [refunded(causeOf(id), row)] : []
      })
    )
    yield* outcomes.known(id)
    const settled = (yield* repo.refund(id)) ?? row
    if (settled.status !== status) return yield* ApiError.of("conflict", `the refund is ${settled.status} already`)
    return settled
  }, Effect.uninterruptible)

  /**
   * Like an attempt, a refund is first requested by its key, and later looked up in the processor's list. A refusal is
   * no result here either: only the list of the account that has the intent shows that nothing went back.
   */
  const carryOut = Effect.fn("Reversals.carryOut")(function* (id: string, isFirstTry: boolean) {
    yield* carry(id, isFirstTry)
    yield* outcomes.known(id)
    if ((yield* repo.refund(id))?.status === "pending")
      return yield* new StillPending({ detail: "the payment processor has not reported the outcome yet" })
  })

  const carry = Effect.fnUntraced(function* (id: string, isFirstTry: boolean) {
    const row = yield* repo.refund(id)
    if (row?.status !== "pending") return
    const attempt = yield* repo.attempt(row.attemptId)
    const intentId = attempt?.intentId ?? null
    if (intentId === null || attempt?.processor !== payments.name)
      return yield* new StillPending({ detail: "the refund is of another processor" })
    const began = yield* Clock.currentTimeMillis
    const asks = Machine.first(isFirstTry, row, began) === "charge"
    const known = asks ? [] : yield* payments.refunds(intentId)
    const found = known.find((refund) => refund.requestId === id)
    const now = yield* Clock.currentTimeMillis
    const fail = (failure: string) => repo.failRefund(id, failure, now)
    if (found !== undefined) return yield* refunds(intentId, [found])
    const next = asks ? "charge" : Machine.absent(row, now)
    if (next === "wait") return yield* new StillPending({ detail: "the refund may be under way" })
    if (next === "give_up") return yield* fail("the payment processor could not be reached")
    const key = `refund:${id}`
    const made = yield* Effect.catchIf(
      payments.refund({ key, requestId: id, intentId, amountCents: row.amountCents }),
      ({ reason }) => reason === "refused" || reason === "declined" || reason === "gone",
      Effect.fnUntraced(function* ({ detail }) {
        const made = (yield* payments.refunds(intentId)).find((refund) => refund.requestId === id)
        return made ?? (yield* Effect.as(fail(detail), null))
      })
    )
    if (made !== null) yield* refunds(intentId, [made])
  })

  jobs.declare({
    kind: refundKind,
    concurrency: 4,
    timeoutMs: 90_000,
    retry: { attempts: Infinity, firstMs: 5_000, maxMs: 300_000 },
    run: ({ attempt, key }) =>
      Effect.tapError(carryOut(key, attempt === 1), (error) =>
        error instanceof PaymentError ? outcomes.failed(key, error) : Effect.void
      )
  })

  return { intent, refunds, dispute, request, decide, askWithin, carryOutNow } as const
})

export type Reversals = Effect.Success<ReturnType<typeof make>>

const rowOf = (attempt: Machine.Attempt, reversal: Reversal, at: number): MoneyRow => ({
  id: Id.derive(reversal.cause, "ledger"),
  tenantId: attempt.tenantId,
  cause: reversal.cause,
  type: reversal.type,
  amountCents: reversal.amountCents,
  description: reversal.description,
  referenceType: "topup",
  referenceId: attempt.id,
  at
})

/** `id`: of the refund at the processor, or of the request that the operator has settled. */
const causeOf = (id: string): string => `refund:${id}`

const refunded = (cause: string, { amountCents }: Pick<Refund, "amountCents">): Reversal => ({
  cause,
  type: "refund",
  amountCents: -amountCents,
  description: "Refund to the card",
  moved: "refunded"
})

const refundFailed = (cause: string, { amountCents }: Refund): Reversal => ({
  cause: `${cause}:failed`,
  type: "refund",
  amountCents,
  description: "The refund did not reach the card",
  moved: "refund_failed"
})

const disputed = (cause: string, { amountCents }: Dispute): Reversal => ({
  cause,
  type: "adjustment",
  amountCents: -amountCents,
  description: "Payment disputed by the cardholder",
  moved: "disputed"
})

const disputeWon = (cause: string, { amountCents }: Dispute): Reversal => ({
  cause,
  type: "adjustment",
  amountCents,
  description: "Dispute won",
  moved: "dispute_won"
})
