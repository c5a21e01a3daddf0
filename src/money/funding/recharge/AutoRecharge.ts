import { Clock, Effect, Queue } from "effect"
import { Accounts } from "../../account/Account.ts"
import { Entropy } from "../../../runtime/process/Entropy.ts"
import * as Supervised from "../../../runtime/process/Supervised.ts"
import * as Audit from "../../../runtime/audit/Audit.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type { PaymentMethodId, TenantId } from "../../../domain/Id.ts"
import { receipt, type Rendered, type Slot } from "../../../runtime/idempotency/Slot.ts"
import { Jobs } from "../../../runtime/job/Jobs.ts"
import { Payments } from "../../../ports/payment/Payments.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import { empty, Journal } from "../../../runtime/store/journal/Journal.ts"
import * as ChargeAttempts from "../charge/ChargeAttempts.ts"
import * as Machine from "./AutoRechargeMachine.ts"
import type { Customers } from "../Customers.ts"
import * as FundingRepo from "../FundingRepo.ts"
import * as FundingView from "../FundingView.ts"
import { checked, type Limits, noCard, noMethod } from "../charge/TopUp.ts"

export interface RechargeRequest {
  readonly enabled: boolean
  readonly thresholdCents: number | null
  readonly amountCents: number | null
  readonly paymentMethodId: PaymentMethodId | null
}

const dayMs = 24 * 3_600_000
/** The most tenants that wait to be checked; the sweep finds the others. */
const capacity = 10_000
/** The tenants in one read of the sweep. */
const portion = 1_000

/**
 * Charges the card of a tenant whose balance falls to its threshold, guide/money.md#auto-recharge.
 *
 * The accounts report each change of a balance, so a recharge begins at once; a sweep finds changes that were not
 * reported. Both decide under the lock of the tenant's settings, and an index allows one pending recharge.
 */
export const make = Effect.fnUntraced(function* (limits: Limits, customers: Customers) {
  const { transaction } = yield* Sql.make
  const journal = yield* Journal
  const jobs = yield* Jobs
  const accounts = yield* Accounts
  const entropy = yield* Entropy
  const payments = yield* Payments
  const repo = yield* FundingRepo.make
  const attempts = yield* ChargeAttempts.make

  const methodOf = Effect.fnUntraced(function* (tenantId: TenantId, id: PaymentMethodId | null) {
    const method =
      id === null ? yield* repo.defaultMethod(tenantId, payments.name) : yield* repo.method(tenantId, payments.name, id)
    return method?.goneAt === null ? method : null
  })

  /** Begins a recharge when one is due. */
  const look = Effect.fn("AutoRecharge.look")(function* (tenantId: TenantId) {
    // This may mark the card as gone, and disable the recharge.
    if ((yield* repo.recharge(tenantId))?.enabled === true) yield* customers.present(tenantId)
    yield* Effect.gen(function* () {
      // Card and customer are read together, so that no card of a lost customer is charged with a new one.
      yield* repo.lockTenant(tenantId)
      const recharge = yield* repo.lockRecharge(tenantId)
      if (recharge === null || !recharge.enabled) return
      const now = yield* Clock.currentTimeMillis
      const facts = yield* repo.rechargeFacts(tenantId, payments.name, now - (now % dayMs))
      if (facts === null || !facts.isActive) return
      const amountCents = Machine.due(recharge, facts, now)
      if (amountCents === null) return
      const method = yield* methodOf(tenantId, recharge.paymentMethodId)
      const customerId = yield* repo.customer(tenantId, payments.name)
      if (method === null || customerId === null || (yield* attempts.refusal(method, null)) !== null) return
      yield* attempts.startWithin({
        seed: entropy.hex(16),
        kind: "auto_recharge",
        method,
        customerId,
        amountCents,
        actor: Audit.system,
        ip: null,
        slot: null
      })
    }).pipe(transaction)
  }, Effect.uninterruptible)

  const thresholds = new Map((yield* repo.thresholds).map(({ cents, tenantId }) => [tenantId, cents]))
  const fallen = yield* Queue.dropping<TenantId>(capacity)
  const queued = new Set<TenantId>()
  yield* accounts.onBalance((tenantId, balanceCents) => {
    const threshold = thresholds.get(tenantId)
    if (threshold === undefined || balanceCents > threshold || queued.has(tenantId)) return
    if (Queue.offerUnsafe(fallen, tenantId)) queued.add(tenantId)
  })
  /** A failure for one tenant must not stop the others. */
  const lookAt = (tenantId: TenantId) =>
    Effect.catchCause(look(tenantId), (cause) => Effect.logWarning("a recharge did not begin", { tenantId }, cause))
  yield* Supervised.fork(
    "auto-recharge",
    Queue.take(fallen).pipe(
      Effect.tap((tenantId) => Effect.sync(() => void queued.delete(tenantId))),
      Effect.flatMap(lookAt),
      Effect.forever
    )
  )
  /** The sweep reads all due tenants: those that may not be charged now stay due, and must not block others. */
  const sweep = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    let after: TenantId | null = null
    do {
      const due: ReadonlyArray<TenantId> = yield* repo.rechargesDue(now, after, portion)
      yield* Effect.forEach(due, lookAt, { discard: true })
      after = due.length < portion ? null : (due.at(-1) ?? null)
    } while (after !== null)
  })
  jobs.declare({
    kind: "funding.auto_recharge",
    everyMs: 60_000,
    concurrency: 1,
    timeoutMs: 300_000,
    retry: { attempts: Infinity, firstMs: 5_000, maxMs: 60_000 },
    run: () => sweep
  })

  const viewOf = (recharge: FundingRepo.Recharge | null): FundingView.AutoRechargeView => {
    const { amountCents, thresholdCents, ...of } = recharge ?? {
      ...Machine.none,
      paymentMethodId: null,
      updatedAt: null
    }
    return FundingView.autoRecharge({
      ...of,
      autoRechargeThresholdCents: thresholdCents,
      autoRechargeAmountCents: amountCents
    })
  }

  const valid = Effect.fnUntraced(function* (tenantId: TenantId, request: RechargeRequest) {
    const { amountCents, enabled, paymentMethodId, thresholdCents } = request
    if (amountCents !== null) yield* checked(amountCents, limits, "auto_recharge_amount_cents")
    if (paymentMethodId !== null && (yield* methodOf(tenantId, paymentMethodId)) === null) return yield* noMethod
    if (!enabled) return
    if ((yield* methodOf(tenantId, paymentMethodId)) === null) return yield* noCard
    const missing =
      thresholdCents === null
        ? "auto_recharge_threshold_cents"
        : amountCents === null
          ? "auto_recharge_amount_cents"
          : null
    if (missing !== null) return yield* ApiError.of("invalid_request", `${missing} is needed to enable it`, missing)
  })

  const put = Effect.fn("AutoRecharge.put")(function* (
    caller: Audit.Caller,
    request: RechargeRequest,
    slot: Slot | null
  ) {
    const { tenantId } = caller
    const at = yield* Clock.currentTimeMillis
    const rendered = yield* Effect.gen(function* () {
      yield* repo.lockTenant(tenantId)
      yield* valid(tenantId, request)
      const before = yield* repo.lockRecharge(tenantId)
      const after: FundingRepo.Recharge = {
        ...Machine.set(before ?? Machine.none, request),
        paymentMethodId: request.paymentMethodId,
        updatedAt: at
      }
      yield* repo.putRecharge(tenantId, after)
      const [from, to] = [viewOf(before), viewOf(after)]
      const rendered: Rendered = { status: 200, body: JSON.stringify(to) }
      const line = Audit.line({
        ...Audit.of(caller),
        at,
        seed: entropy.hex(16),
        action: "auto_recharge.updated",
        resourceId: tenantId,
        changes: changeable.flatMap((field) =>
          from[field] === to[field] ? [] : [{ field, from: from[field], to: to[field] }]
        )
      })
      yield* journal.commitWithin({ ...empty, audit: [line], receipt: receipt(slot, rendered, at) })
      return rendered
    }).pipe(transaction)
    if (request.enabled && request.thresholdCents !== null) thresholds.set(tenantId, request.thresholdCents)
    else thresholds.delete(tenantId)
    // The balance may be below the new threshold already.
    if (request.enabled && !queued.has(tenantId) && Queue.offerUnsafe(fallen, tenantId)) queued.add(tenantId)
    return rendered
  }, Effect.uninterruptible)

  return { get: (tenantId: TenantId) => Effect.map(repo.recharge(tenantId), viewOf), put, look } as const
})

const changeable = [
  "enabled",
  "auto_recharge_threshold_cents",
  "auto_recharge_amount_cents",
  "payment_method_id"
] as const
