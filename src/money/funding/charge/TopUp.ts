import { Clock, Effect } from "effect"
import { hash } from "node:crypto"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import { Billing } from "../../billing/Billing.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type { LedgerEntryId, PaymentMethodId, TenantId } from "../../../domain/Id.ts"
import { type Rendered, sealedReceipt, type Slot, windowMs } from "../../../runtime/idempotency/Slot.ts"
import { Jobs } from "../../../runtime/job/Jobs.ts"
import { Payments } from "../../../ports/payment/Payments.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import { empty, Journal } from "../../../runtime/store/journal/Journal.ts"
import type { Attempt } from "./AttemptMachine.ts"
import * as ChargeAttempts from "./ChargeAttempts.ts"
import * as Collector from "./Collector.ts"
import type { Customers } from "../Customers.ts"
import * as FundingRepo from "../FundingRepo.ts"
import * as FundingView from "../FundingView.ts"

export interface TopUpRequest {
  readonly amountCents: number
  /** Null for the default card. */
  readonly paymentMethodId: PaymentMethodId | null
}

/** The bounds of one top-up, in cents. */
export interface Limits {
  readonly minimumCents: number
  readonly maximumCents: number
}

/** How long an answer waits for the processor; then it is `pending`. */
const patience = "15 seconds"
/** The most answers that wait at once. Each holds a place among the requests, so further ones do not wait. */
const mostWaiting = 64

const refusals = {
  card_declined: ApiError.of("payment_failed", "this card was declined too often today; use another one"),
  cards_declined: ApiError.of("payment_failed", "too many payments of this workspace were declined today"),
  address_declined: ApiError.of("payment_failed", "too many cards were declined from this address today"),
  pending: ApiError.of("conflict", "too many payments are under way; wait for their outcome")
}
export const noCard = ApiError.of("payment_method_required", "no card is saved: save one, or make one the default")
const goneCard = ApiError.of(
  "payment_method_required",
  "the payment processor does not have this card any more: save it again",
  "payment_method_id"
)
const away = ApiError.of("upstream_error", "the payment processor gives no answer, and nothing was charged; try again")
export const noMethod = ApiError.of("not_found", "no such payment method", "payment_method_id")

/** Checks the amount of one charge. */
export const checked = (amountCents: number, { maximumCents, minimumCents }: Limits, param: string) =>
  amountCents < minimumCents
    ? Effect.fail(ApiError.of("topup_amount_too_low", `the least amount is ${minimumCents} cents`, param))
    : amountCents > maximumCents
      ? Effect.fail(ApiError.of("invalid_request", `the largest amount is ${maximumCents} cents`, param))
      : Effect.void

/**
 * Tops a balance up with a saved card, guide/money.md#top-ups. The attempt is committed before the processor is asked.
 * A request that is repeated with its key after a crash continues with the attempt that it made.
 */
export const make = Effect.fnUntraced(function* (limits: Limits, customers: Customers) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const jobs = yield* Jobs
  const billing = yield* Billing
  const entropy = yield* Entropy
  const payments = yield* Payments
  const repo = yield* FundingRepo.make
  const attempts = yield* ChargeAttempts.make
  let waiting = 0

  const methodOf = Effect.fnUntraced(function* (tenantId: TenantId, id: PaymentMethodId | null) {
    if (id === null) return (yield* repo.defaultMethod(tenantId, payments.name)) ?? (yield* noCard)
    const method = (yield* repo.method(tenantId, payments.name, id)) ?? (yield* noMethod)
    return method.goneAt === null ? method : yield* goneCard
  })

  /** Marks the cards as gone where the customer is, so that no attempt is made with them. */
  const looked = Effect.fnUntraced(function* ({ tenantId }: Audit.Caller) {
    yield* Effect.catch(customers.present(tenantId), (error) =>
      Effect.andThen(Effect.logWarning("the payment processor was asked in vain", error), away)
    )
  })

  /** The requests of a tenant run one after the other, so that many at once do not pass the bounds together. */
  const start = Effect.fnUntraced(function* (caller: Audit.Caller, request: TopUpRequest, slot: string | null) {
    yield* repo.lockTenant(caller.tenantId)
    const method = yield* methodOf(caller.tenantId, request.paymentMethodId)
    const refusal = yield* attempts.refusal(method, caller.ip)
    if (refusal !== null) return yield* refusals[refusal]
    const customerId = yield* repo.customer(caller.tenantId, payments.name)
    if (customerId === null) return yield* noCard
    return yield* attempts.startWithin({
      seed: entropy.hex(16),
      kind: "topup",
      method,
      customerId,
      amountCents: request.amountCents,
      actor: Audit.keyOf(caller),
      ip: caller.ip,
      slot
    })
  }, transaction)

  /** Waits until the attempt is settled, or for the longest time of an answer. */
  const collected = Effect.fnUntraced(function* (id: LedgerEntryId) {
    if (waiting < mostWaiting) {
      waiting++
      yield* Effect.timeoutOption(Effect.interruptible(jobs.runNow(Collector.kind, id)), patience).pipe(
        Effect.ensuring(Effect.sync(() => void waiting--))
      )
    }
    const attempt = yield* repo.attempt(id)
    return attempt ?? (yield* Effect.die(new Error(`the attempt ${id} has gone`)))
  })

  /** The secret is needed while the cardholder has to confirm the payment, and is not stored here. */
  const secretOf = ({ intentId, status }: Attempt) =>
    status !== "pending" || intentId === null
      ? Effect.succeed(null)
      : payments.intent(intentId).pipe(
          Effect.map((intent) => (intent.status === "requires_action" ? intent.clientSecret : null)),
          Effect.catch(() => Effect.succeed(null))
        )

  const rendered = Effect.fnUntraced(function* (attempt: Attempt) {
    if (attempt.status === "failed")
      return yield* ApiError.of(
        "payment_failed",
        `${attempt.failureMessage ?? "the card was declined"} (${attempt.failureCode ?? "card_declined"})`
      )
    const body = FundingView.topUp({
      id: attempt.id,
      amountCents: attempt.amountCents,
      balanceCents: (yield* billing.balance(attempt.tenantId)).balance_cents,
      paymentMethodId: attempt.paymentMethodId,
      status: attempt.status,
      clientSecret: yield* secretOf(attempt),
      ledgerEntry: null,
      createdAt: attempt.createdAt
    })
    const entry = attempt.status === "succeeded" ? yield* billing.entry(attempt.tenantId, attempt.id) : null
    return { status: 201, body: JSON.stringify({ ...body, ledger_entry: entry }) } satisfies Rendered
  })

  return Effect.fn("TopUp")(function* (caller: Audit.Caller, request: TopUpRequest, slot: Slot | null) {
    const slotted = slot === null ? null : slotOf(slot)
    const since = (yield* Clock.currentTimeMillis) - windowMs
    const earlier = slotted === null ? null : yield* repo.bySlot(slotted, since)
    if (earlier === null) {
      yield* checked(request.amountCents, limits, "amount_cents")
      yield* looked(caller)
    }
    const attempt = earlier ?? (yield* start(caller, request, slotted))
    const answer = yield* rendered(attempt.status === "pending" ? yield* collected(attempt.id) : attempt)
    if (slot !== null) {
      const receipt = sealedReceipt(slot, answer, yield* Clock.currentTimeMillis, entropy.bytes(12))
      // A repetition finds the attempt by its slot, so a receipt that cannot be stored takes the answer from no client.
      yield* Effect.catchIf(
        journal.commitAsked({ ...empty, receipt }),
        ({ code }) => code === "service_unavailable",
        () => Effect.void
      )
    }
    return answer
  }, Effect.uninterruptible)
})

/** Identifies a request that is repeated with the same owner, key and content. */
const slotOf = ({ bodyHash, key, method, owner, path }: Slot): string =>
  hash("sha256", [owner, key, method, path, bodyHash].join("\u0000"), "hex")
