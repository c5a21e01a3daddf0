import { Clock, Effect } from "effect"
import { Entropy } from "../../runtime/process/Entropy.ts"
import * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import * as Id from "../../domain/Id.ts"
import { receipt, type Rendered, sealedReceipt, type Slot } from "../../runtime/idempotency/Slot.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import { type PaymentError, Payments } from "../../ports/payment/Payments.ts"
import { empty, Journal } from "../../runtime/store/journal/Journal.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import type * as Listing from "../../runtime/store/list/Listing.ts"
import * as CardTrials from "./CardTrials.ts"
import type { Customers } from "./Customers.ts"
import * as FundingRepo from "./FundingRepo.ts"
import * as FundingView from "./FundingView.ts"

export interface SaveRequest {
  /** The processor's id of the card, from its script on the tenant's page. */
  readonly processorPaymentMethodId: string
  readonly setDefault: boolean
}

const noMethod = ApiError.of("not_found", "no such payment method")
const inUse = ApiError.of("conflict", "auto-recharge uses this card; change or disable it first")
const charging = ApiError.of("conflict", "a payment with this card is under way")

const gone = ApiError.of("conflict", "the payment processor does not have this card any more; save it again")

const lost = ApiError.of(
  "conflict",
  "the payment processor lost the customer of this workspace meanwhile; enter the card anew, and save it again"
)

const mostCards = 20
const tooMany = ApiError.of("conflict", `a workspace has at most ${mostCards} cards; delete one first`)

const detachKind = "funding.detach"

/** Saved cards, guide/money.md#cards. Card numbers never reach this service, which keeps only the processor's id. */
export const make = Effect.fnUntraced(function* (customers: Customers) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const jobs = yield* Jobs
  const entropy = yield* Entropy
  const payments = yield* Payments
  const repo = yield* FundingRepo.make
  const trials = yield* CardTrials.make

  const failed = (error: PaymentError) => {
    switch (error.reason) {
      case "declined":
        return ApiError.of("payment_failed", "the card was declined")
      case "refused":
        return ApiError.of(
          "invalid_request",
          payments.isReal ? "the payment processor does not accept this card" : error.detail,
          "processor_payment_method_id"
        )
      case "denied":
      case "gone":
      case "unknown":
        return ApiError.of("upstream_error", "the payment processor gives no answer; try again")
    }
  }
  const asked = <A>(effect: Effect.Effect<A, PaymentError>) =>
    effect.pipe(
      Effect.tapError((error) => Effect.logWarning("the payment processor was asked in vain", error)),
      Effect.mapError(failed)
    )

  const line = (
    caller: Audit.Caller,
    at: number,
    of: { readonly id: Id.PaymentMethodId; readonly action: string; readonly isDefault?: boolean }
  ) =>
    Audit.line({
      ...Audit.of(caller),
      at,
      seed: entropy.hex(16),
      action: of.action,
      resourceId: of.id,
      changes: of.isDefault === undefined ? [] : [{ field: "is_default", from: null, to: of.isDefault }]
    })

  const within = <A, E>(effect: Effect.Effect<A, E | ApiError>) =>
    effect.pipe(
      transaction,
      Effect.catch((error) => (error instanceof ApiError ? Effect.fail(error) : Effect.die(error)))
    )

  const find = Effect.fnUntraced(function* (tenantId: Id.TenantId, id: Id.PaymentMethodId) {
    return (yield* repo.method(tenantId, payments.name, id)) ?? (yield* noMethod)
  })

  const setup = Effect.fn("PaymentMethods.setup")(function* (caller: Audit.Caller, slot: Slot | null) {
    const trial = yield* trials.begin(caller, "setup")
    const { clientSecret, id } = yield* asked(
      Effect.tapError(customers.use(caller.tenantId, payments.setup), () => trials.undone(trial))
    )
    const body = FundingView.cardSetup({ clientSecret, setupIntentId: id, publishableKey: payments.publishableKey })
    const rendered: Rendered = { status: 201, body: JSON.stringify(body) }
    const stored = sealedReceipt(slot, rendered, yield* Clock.currentTimeMillis, entropy.bytes(12))
    if (stored !== null) yield* journal.commitAsked({ ...empty, receipt: stored })
    return rendered
  }, Effect.uninterruptible)

  /** A card that is saved already stays unchanged. */
  const save = Effect.fn("PaymentMethods.save")(function* (
    caller: Audit.Caller,
    request: SaveRequest,
    slot: Slot | null
  ) {
    const { tenantId } = caller
    if ((yield* repo.countMethods(tenantId)) >= mostCards) return yield* tooMany
    const trial = yield* trials.begin(caller, "save")
    const { card, customerId } = yield* asked(
      customers
        .use(tenantId, (customerId) =>
          Effect.map(payments.attach({ customerId, cardId: request.processorPaymentMethodId }), (card) => ({
            card,
            customerId
          }))
        )
        .pipe(Effect.tapError(({ reason }) => (reason === "declined" ? Effect.void : trials.undone(trial))))
    )
    yield* trials.saved(trial)
    const at = yield* Clock.currentTimeMillis
    return yield* within(
      Effect.gen(function* () {
        yield* repo.lockTenant(tenantId)
        // The card belongs to its customer at the processor, and would never be marked as gone with another one.
        if ((yield* repo.customer(tenantId, payments.name)) !== customerId) return yield* lost
        const earlier = yield* repo.methodByCard(payments.name, card.id)
        if (earlier !== null && earlier.tenantId !== tenantId) return yield* noMethod
        const { brand, expMonth, expYear, last4 } = card
        const method: FundingRepo.Method = earlier ?? {
          id: Id.derive(entropy.hex(16), "pm"),
          tenantId,
          cardId: card.id,
          brand,
          last4,
          expMonth,
          expYear,
          isDefault: false,
          createdAt: at,
          goneAt: null
        }
        if (earlier !== null) yield* trials.undone(trial)
        if (earlier === null) yield* repo.insertMethod(method, payments.name, customerId)
        else if (earlier.goneAt !== null) yield* repo.reviveMethod(earlier.id, customerId)
        const isDefault =
          request.setDefault ||
          earlier?.isDefault === true ||
          (yield* repo.defaultMethod(tenantId, payments.name)) === null
        if (isDefault) yield* repo.makeDefault(tenantId, payments.name, method.id)
        const body = FundingView.paymentMethod({ ...method, isDefault, goneAt: null })
        const rendered: Rendered = { status: 201, body: JSON.stringify(body) }
        const audit = [line(caller, at, { id: method.id, action: "payment_method.created", isDefault })]
        yield* journal.commitWithin({
          ...empty,
          audit: earlier === null ? audit : [],
          receipt: receipt(slot, rendered, at)
        })
        return rendered
      })
    )
  }, Effect.uninterruptible)

  const makeDefault = Effect.fn("PaymentMethods.makeDefault")(function* (
    caller: Audit.Caller,
    id: Id.PaymentMethodId,
    slot: Slot | null
  ) {
    const at = yield* Clock.currentTimeMillis
    return yield* within(
      Effect.gen(function* () {
        yield* repo.lockTenant(caller.tenantId)
        const method = yield* find(caller.tenantId, id)
        if (method.goneAt !== null) return yield* gone
        yield* repo.makeDefault(caller.tenantId, payments.name, id)
        const body = FundingView.paymentMethod({ ...method, isDefault: true })
        const rendered: Rendered = { status: 200, body: JSON.stringify(body) }
        yield* journal.commitWithin({
          ...empty,
          audit: method.isDefault ? [] : [line(caller, at, { id, action: "payment_method.updated", isDefault: true })],
          receipt: receipt(slot, rendered, at)
        })
        return rendered
      })
    )
  }, Effect.uninterruptible)

  /** The newest of the others becomes the default card. */
  const remove = Effect.fn("PaymentMethods.remove")(function* (
    caller: Audit.Caller,
    id: Id.PaymentMethodId,
    slot: Slot | null
  ) {
    const { tenantId } = caller
    const at = yield* Clock.currentTimeMillis
    return yield* within(
      Effect.gen(function* () {
        yield* repo.lockTenant(tenantId)
        const method = yield* find(tenantId, id)
        const recharge = yield* repo.recharge(tenantId)
        if (recharge?.enabled === true && (recharge.paymentMethodId ?? (method.isDefault ? id : null)) === id)
          return yield* inUse
        if (yield* repo.isCharging(tenantId, id)) return yield* charging
        yield* repo.removeMethod(tenantId, id, at)
        if (method.isDefault) {
          const next = yield* repo.newestMethod(tenantId, payments.name)
          if (next !== null) yield* repo.makeDefault(tenantId, payments.name, next.id)
        }
        yield* jobs.enqueue({ kind: detachKind, key: id, tenantId })
        const rendered: Rendered = { status: 204, body: null }
        yield* journal.commitWithin({
          ...empty,
          audit: [line(caller, at, { id, action: "payment_method.deleted" })],
          receipt: receipt(slot, rendered, at)
        })
        return rendered
      })
    )
  }, Effect.uninterruptible)

  jobs.declare({
    kind: detachKind,
    concurrency: 2,
    timeoutMs: 60_000,
    retry: { attempts: 50, firstMs: 10_000, maxMs: 3_600_000 },
    run: ({ key }) =>
      Effect.gen(function* () {
        const removed = yield* repo.removedCard(Id.PaymentMethodId.make(key))
        if (removed === null || removed.processor !== payments.name) return
        // The card may have been saved again meanwhile.
        if ((yield* repo.methodByCard(payments.name, removed.card)) === null) yield* payments.detach(removed.card)
      })
  })

  return {
    list: (tenantId: Id.TenantId, window: Listing.Window) => repo.methods(tenantId, payments.name, window),
    setup,
    save,
    makeDefault,
    remove
  } as const
})
