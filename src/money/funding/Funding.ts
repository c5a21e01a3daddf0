import { Context, Effect, Layer } from "effect"
import type * as Audit from "../../runtime/audit/Audit.ts"
import { ApiError } from "../../domain/ApiError.ts"
import type { LedgerEntryId, PaymentMethodId, TenantId } from "../../domain/Id.ts"
import type { Rendered } from "../../runtime/idempotency/Slot.ts"
import { Jobs } from "../../runtime/job/Jobs.ts"
import type * as Listing from "../../runtime/store/list/Listing.ts"
import type { Attempt } from "./charge/AttemptMachine.ts"
import * as Abandoning from "./charge/Abandoning.ts"
import * as AutoRecharge from "./recharge/AutoRecharge.ts"
import * as Collector from "./charge/Collector.ts"
import * as Customers from "./Customers.ts"
import * as FundingRepo from "./FundingRepo.ts"
import type { AutoRechargeView, PaymentMethodView } from "./FundingView.ts"
import * as PaymentMethods from "./PaymentMethods.ts"
import * as Payouts from "./payout/Payouts.ts"
import * as ProcessorEvents from "./processor/ProcessorEvents.ts"
import * as Reconciling from "./processor/Reconciling.ts"
import type { Reconciliation } from "./processor/Reconciliation.ts"
import * as Reversals from "./processor/Reversals.ts"
import * as RefusedOutcomes from "./charge/RefusedOutcomes.ts"
import * as Settling from "./charge/Settling.ts"
import * as TopUp from "./charge/TopUp.ts"

export type { Attempt } from "./charge/AttemptMachine.ts"
export type { RefundRow } from "./FundingRepo.ts"
export type { Payout } from "./payout/Payouts.ts"
export * as FundingView from "./FundingView.ts"

/**
 * Money from cards: saved cards, top-ups, auto-recharge, refunds and disputes, guide/money.md#top-ups. The ledger has
 * each charge of a card once, whatever crashes and however often it is reported.
 */
export class Funding extends Context.Service<
  Funding,
  {
    readonly methods: (tenantId: TenantId, window: Listing.Window) => Effect.Effect<Listing.Page<PaymentMethodView>>
    /** 201 with the data by which a page saves a card at the processor; 502 while the processor gives no answer. */
    readonly setup: Audit.Request<[]>
    /** 201; 400 for a card that is not the tenant's, 402 for one that cannot be saved, 409 beyond 20. */
    readonly save: Audit.Request<[request: PaymentMethods.SaveRequest]>
    readonly makeDefault: Audit.Request<[id: PaymentMethodId]>
    /** 204; 409 while auto-recharge or a payment uses it. */
    readonly remove: Audit.Request<[id: PaymentMethodId]>
    /**
     * 201, `succeeded` or `pending`. In this order: 400 `topup_amount_too_low`, 400 above the maximum, 502 while the
     * processor gives no answer under a new key, 404 card, 400 `payment_method_required`, 402 `payment_failed`.
     */
    readonly topUp: Audit.Request<[request: TopUp.TopUpRequest]>
    readonly autoRecharge: (tenantId: TenantId) => Effect.Effect<AutoRechargeView>
    readonly setAutoRecharge: Audit.Request<[request: AutoRecharge.RechargeRequest]>
    /** Receives an event of the processor, by its raw bytes; 400 when its signature is not good. */
    readonly receive: (body: Uint8Array, signature: string) => Effect.Effect<Rendered, ApiError>
    /** The tenant's attempts, the newest first. */
    readonly attempts: (tenantId: TenantId, limit: number) => Effect.Effect<ReadonlyArray<Attempt>>
    /**
     * Gives up a pending top-up whose outcome the processor will not report: it fails. When it was charged after all
     * and the processor reports that later, it is credited. 404; 409 when it is not pending.
     */
    readonly abandon: (attemptId: LedgerEntryId, reason: string | null) => Effect.Effect<Attempt, ApiError>
    /**
     * Refunds a top-up to its card, in part or (null) all that is left of it. The balance may go below zero. The same
     * key shows the first refund again, and fails for another amount with `idempotency_conflict`.
     */
    readonly refund: (
      attemptId: LedgerEntryId,
      cents: number | null,
      reason: string | null,
      idempotencyKey?: string | null
    ) => Effect.Effect<FundingRepo.RefundRow, ApiError>
    /** The tenant's refunds that were requested here, the newest first. */
    readonly refunds: (tenantId: TenantId, limit: number) => Effect.Effect<ReadonlyArray<FundingRepo.RefundRow>>
    /**
     * Settles a pending refund whose outcome the processor will not report. One that was made is booked, once, even if
     * the processor reports it later; one that was not made is booked if the processor reports it as made after all.
     * A repetition changes nothing. 404; 409 when it has the other outcome already.
     */
    readonly settleRefund: (
      id: string,
      outcome: "made" | "not_made",
      reason: string
    ) => Effect.Effect<FundingRepo.RefundRow, ApiError>
    /**
     * Returns the remaining balance of a closed tenant to its cards. Returns the number of the round, which is a new
     * one unless one is under way. `within` joins the transaction of a new round. 409 while the tenant is not closed.
     */
    readonly requestPayout: (
      tenantId: TenantId,
      within: (round: number) => Effect.Effect<void>
    ) => Effect.Effect<number, ApiError>
    /** Brings a round to its end. It fails while something is under way, and continues when it is called again. */
    readonly runPayout: (tenantId: TenantId, round: number) => Effect.Effect<void, Payouts.PayoutWaits>
    /** The tenant's payout; null when none was requested. */
    readonly payout: (tenantId: TenantId) => Effect.Effect<Payouts.Payout | null>
    /**
     * Asks the processor for all movements, of one tenant or (null) of all, books those that the ledger lacks, and
     * compares. 502 while the processor gives no answer.
     */
    readonly reconcile: (tenantId: TenantId | null, sinceMs?: number) => Effect.Effect<Reconciliation, ApiError>
    /** The last reconciliation of a tenant (there is one a day while it pays); null when there was none. */
    readonly reconciled: (tenantId: TenantId) => Effect.Effect<Reconciliation | null>
  }
>()("trunkline/funding/Funding") {
  static readonly layer = (limits: TopUp.Limits) =>
    Layer.effect(
      Funding,
      Effect.gen(function* () {
        const jobs = yield* Jobs
        const repo = yield* FundingRepo.make
        const settling = yield* Settling.make
        const outcomes = yield* RefusedOutcomes.make
        const customers = yield* Customers.make
        jobs.declare(yield* Collector.make(settling, outcomes, customers))
        const methods = yield* PaymentMethods.make(customers)
        const topUp = yield* TopUp.make(limits, customers)
        const autoRecharge = yield* AutoRecharge.make(limits, customers)
        const reversals = yield* Reversals.make(settling, outcomes)
        const payouts = yield* Payouts.make(reversals)
        const receive = yield* ProcessorEvents.make(reversals)
        const { last, reconcile } = yield* Reconciling.make(reversals)
        return Funding.of({
          methods: methods.list,
          setup: methods.setup,
          save: methods.save,
          makeDefault: methods.makeDefault,
          remove: methods.remove,
          topUp,
          autoRecharge: autoRecharge.get,
          setAutoRecharge: autoRecharge.put,
          receive,
          attempts: repo.attempts,
          abandon: yield* Abandoning.make(settling),
          refund: reversals.request,
          refunds: repo.refunds,
          settleRefund: reversals.decide,
          requestPayout: payouts.request,
          runPayout: payouts.run,
          payout: payouts.find,
          reconcile: (tenantId, sinceMs) =>
            Effect.mapError(reconcile(tenantId, sinceMs), ({ detail }) =>
              ApiError.of("upstream_error", `the payment processor gives no answer: ${detail}`)
            ),
          reconciled: last
        })
      })
    )
}
