import { Effect } from "effect"
import type { LedgerEntryId, PaymentMethodId, TenantId } from "../../domain/Id.ts"
import type { Decline, Subject } from "../../ports/payment/Payments.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import * as Listing from "../../runtime/store/list/Listing.ts"
import type { Attempt, Tried } from "./charge/AttemptMachine.ts"
import type { AutoRecharge } from "./recharge/AutoRechargeMachine.ts"
import * as FundingView from "./FundingView.ts"

/** A tenant's card. */
export interface Method extends FundingView.PaymentMethodRow {
  readonly tenantId: TenantId
  readonly cardId: string
}

export interface Recharge extends AutoRecharge {
  readonly paymentMethodId: PaymentMethodId | null
  readonly updatedAt: number
}

/** A refund that the operator or a payout requested. */
export interface RefundRow {
  readonly id: string
  readonly attemptId: LedgerEntryId
  readonly tenantId: TenantId
  readonly amountCents: number
  readonly status: "pending" | "succeeded" | "failed"
  readonly refundId: string | null
  readonly failure: string | null
  readonly reason: string | null
  /** The round of the payout that requested it; null when the operator requested it alone. */
  readonly payoutRound: number | null
  readonly createdAt: number
}

/** Rows of cards, attempts, refunds, auto-recharge and processor events. Failed statements die. */
export const make = Effect.gen(function* () {
  const { all, column, count, done, first, json, set, some, sql, value, values } = yield* Sql.make
  const readList = yield* Listing.reader

  const attemptColumns = sql`id, tenant_id, processor, kind, amount_cents, payment_method_id, customer_id, card_id,
    status, intent_id, failure_code, failure_message, actor, ip, created_at,
    settled_at`
  const methodColumns = sql`id, tenant_id, processor_id AS card_id, brand, last4, exp_month, exp_year, is_default,
    created_at, gone_at`
  const rechargeColumns = sql`enabled, threshold_cents, amount_cents, payment_method_id, disabled_reason, failures,
    next_try_at, last_attempt_at, last_attempt_status,
    updated_at`
  const refundColumns = sql`id, attempt_id, tenant_id, amount_cents, status, refund_id, failure, reason, payout_round,
    created_at`

  return {
    customer: (tenantId: TenantId, processor: string) =>
      value<string>`
        SELECT customer_id AS id FROM payment_customer
        WHERE tenant_id = ${tenantId} AND processor = ${processor} AND gone_at IS NULL`,
    /** The customer that is not gone; `seenWith` names the key under which it was last seen. */
    presentCustomer: (tenantId: TenantId, processor: string) =>
      first<{ readonly id: string; readonly seenWith: string | null }>`
        SELECT customer_id AS id, seen_with FROM payment_customer
        WHERE tenant_id = ${tenantId} AND processor = ${processor} AND gone_at IS NULL`,
    /** All customers of the tenant, those that are gone too. */
    customers: (tenantId: TenantId, processor: string) =>
      column<string>`
        SELECT customer_id AS id FROM payment_customer WHERE tenant_id = ${tenantId} AND processor = ${processor}
        ORDER BY created_at`,
    /** Keeps the first customer of the tenant that is not gone, and returns its id. */
    keepCustomer: (tenantId: TenantId, processor: string, customerId: string, keyMark: string, now: number) =>
      Effect.map(
        all<{ readonly id: string }>`
          INSERT INTO payment_customer (tenant_id, processor, customer_id, seen_with, created_at)
          VALUES (${tenantId}, ${processor}, ${customerId}, ${keyMark}, ${timestamptz(now)})
          ON CONFLICT (tenant_id, processor) WHERE gone_at IS NULL DO UPDATE SET processor = excluded.processor
          RETURNING customer_id AS id`,
        ([row]) => row?.id ?? customerId
      ),
    seeCustomer: (processor: string, customerId: string, keyMark: string) =>
      done`
        UPDATE payment_customer SET seen_with = ${keyMark} WHERE processor = ${processor} AND customer_id = ${customerId}`,
    loseCustomer: (processor: string, customerId: string, keyMark: string, now: number) =>
      done`
        UPDATE payment_customer SET gone_at = ${timestamptz(now)}, seen_with = ${keyMark}
        WHERE processor = ${processor} AND customer_id = ${customerId} AND gone_at IS NULL`,
    /** Marks the cards of a customer as gone, and returns them as they were. */
    loseMethods: (processor: string, customerId: string, now: number) =>
      Effect.tap(
        all<Method>`
          SELECT ${methodColumns} FROM payment_method
          WHERE processor = ${processor} AND customer_id = ${customerId} AND removed_at IS NULL AND gone_at IS NULL`,
        () => done`
          UPDATE payment_method SET gone_at = ${timestamptz(now)}, is_default = false
          WHERE processor = ${processor} AND customer_id = ${customerId} AND removed_at IS NULL AND gone_at IS NULL`
      ),
    /** The newest customer that is gone and was not looked up under this key since. */
    lostCustomer: (tenantId: TenantId, processor: string, keyMark: string) =>
      value<string>`
        SELECT customer_id FROM payment_customer WHERE tenant_id = ${tenantId} AND processor = ${processor}
          AND gone_at IS NOT NULL AND seen_with IS DISTINCT FROM ${keyMark} ORDER BY gone_at DESC LIMIT 1`,
    /** Undoes `loseCustomer`; false where the tenant has another customer by now. */
    regainCustomer: (tenantId: TenantId, processor: string, customerId: string, keyMark: string) =>
      some`
        UPDATE payment_customer SET gone_at = NULL, seen_with = ${keyMark}
        WHERE processor = ${processor} AND customer_id = ${customerId} AND NOT EXISTS (
          SELECT FROM payment_customer WHERE tenant_id = ${tenantId} AND processor = ${processor} AND gone_at IS NULL)
        RETURNING 1`,
    /** Undoes `loseMethods`, without a default card. Returns the cards. */
    regainMethods: (processor: string, customerId: string) =>
      column<PaymentMethodId>`
        UPDATE payment_method SET gone_at = NULL
        WHERE processor = ${processor} AND customer_id = ${customerId} AND removed_at IS NULL AND gone_at IS NOT NULL
        RETURNING id`,
    /** A card that was gone is saved again. */
    reviveMethod: (id: PaymentMethodId, customerId: string) =>
      done`UPDATE payment_method SET gone_at = NULL, customer_id = ${customerId} WHERE id = ${id}`,

    /** Serializes all changes to a tenant's cards and to what uses them. */
    lockTenant: (tenantId: TenantId) =>
      done`SELECT FROM payment_customer WHERE tenant_id = ${tenantId} ORDER BY processor FOR UPDATE`,

    methods: (tenantId: TenantId, processor: string, window: Listing.Window) =>
      readList<Method, FundingView.PaymentMethodView>({
        tenantId,
        columns: methodColumns,
        from: "payment_method",
        where: sql`tenant_id = ${tenantId} AND removed_at IS NULL AND processor = ${processor}`,
        order: Listing.byOrdinal(sql),
        window,
        item: FundingView.paymentMethod
      }),
    method: (tenantId: TenantId, processor: string, id: PaymentMethodId) =>
      first<Method>`
        SELECT ${methodColumns} FROM payment_method
        WHERE tenant_id = ${tenantId} AND processor = ${processor} AND id = ${id} AND removed_at IS NULL`,
    methodByCard: (processor: string, cardId: string) =>
      first<Method>`
        SELECT ${methodColumns} FROM payment_method
        WHERE processor = ${processor} AND processor_id = ${cardId} AND removed_at IS NULL`,
    defaultMethod: (tenantId: TenantId, processor: string) =>
      first<Method>`
        SELECT ${methodColumns} FROM payment_method
        WHERE tenant_id = ${tenantId} AND processor = ${processor} AND is_default AND removed_at IS NULL`,
    countMethods: (tenantId: TenantId) =>
      count`
        SELECT count(*) AS count FROM payment_method
        WHERE tenant_id = ${tenantId} AND removed_at IS NULL AND gone_at IS NULL`,
    insertMethod: ({ cardId, ...method }: Method, processor: string, customerId: string) =>
      done`
        INSERT INTO payment_method ${values({ ...method, processor, processorId: cardId, customerId, isDefault: false })}`,
    makeDefault: (tenantId: TenantId, processor: string, id: PaymentMethodId) =>
      Effect.andThen(
        done`UPDATE payment_method SET is_default = false
          WHERE tenant_id = ${tenantId} AND processor = ${processor} AND is_default AND id <> ${id}`,
        done`UPDATE payment_method SET is_default = true WHERE tenant_id = ${tenantId} AND id = ${id}`
      ),
    removeMethod: (tenantId: TenantId, id: PaymentMethodId, now: number) =>
      done`
        UPDATE payment_method SET removed_at = ${timestamptz(now)}, is_default = false WHERE tenant_id = ${tenantId} AND id = ${id}`,
    newestMethod: (tenantId: TenantId, processor: string) =>
      first<Method>`
        SELECT ${methodColumns} FROM payment_method
        WHERE tenant_id = ${tenantId} AND processor = ${processor} AND removed_at IS NULL AND gone_at IS NULL
        ORDER BY ordinal DESC LIMIT 1`,
    removedCard: (id: PaymentMethodId) =>
      first<{ readonly card: string; readonly processor: string }>`
        SELECT processor_id AS card, processor FROM payment_method WHERE id = ${id} AND removed_at IS NOT NULL`,

    insertAttempt: (attempt: Attempt, slot: string | null) =>
      done`
        INSERT INTO payment_attempt ${values({ ...attempt, actor: json(attempt.actor), slot })}`,
    attempt: (id: LedgerEntryId) => first<Attempt>`SELECT ${attemptColumns} FROM payment_attempt WHERE id = ${id}`,
    lockAttempt: (id: LedgerEntryId) =>
      first<Attempt>`SELECT ${attemptColumns} FROM payment_attempt WHERE id = ${id} FOR UPDATE`,
    lockByIntent: (processor: string, intentId: string) =>
      first<Attempt>`
        SELECT ${attemptColumns} FROM payment_attempt WHERE processor = ${processor} AND intent_id = ${intentId} FOR UPDATE`,
    bySlot: (slot: string, since: number) =>
      first<Attempt>`
        SELECT ${attemptColumns} FROM payment_attempt WHERE slot = ${slot} AND created_at > ${timestamptz(since)}
        ORDER BY ordinal DESC LIMIT 1`,
    attempts: (tenantId: TenantId, limit: number) =>
      all<Attempt>`
        SELECT ${attemptColumns} FROM payment_attempt WHERE tenant_id = ${tenantId} ORDER BY ordinal DESC LIMIT ${limit}`,
    /** The attempts since then with a card, under every id by which it was saved, and with all cards of its tenant. */
    tried: ({ cardId, tenantId }: Method, processor: string, since: number) =>
      Effect.map(
        first<Tried>`
          SELECT count(*) FILTER (WHERE is_card AND status = 'failed') AS declined,
            count(*) FILTER (WHERE is_card AND status = 'pending') AS charging,
            count(*) FILTER (WHERE status = 'failed') AS declined_of_tenant,
            count(*) FILTER (WHERE status = 'pending') AS pending
          FROM (
            SELECT status, card_id = ${cardId} AND processor = ${processor} AS is_card
            FROM payment_attempt WHERE tenant_id = ${tenantId} AND created_at > ${timestamptz(since)}
          ) AS attempt`,
        (row) => row ?? { declined: 0, charging: 0, declinedOfTenant: 0, pending: 0 }
      ),
    isCharging: (tenantId: TenantId, methodId: PaymentMethodId) =>
      some`SELECT FROM payment_attempt
        WHERE tenant_id = ${tenantId} AND payment_method_id = ${methodId} AND status = 'pending' LIMIT 1`,
    started: (id: LedgerEntryId, intentId: string) =>
      done`UPDATE payment_attempt SET intent_id = ${intentId} WHERE id = ${id}`,
    succeeded: (id: LedgerEntryId, intentId: string, now: number) =>
      done`
        UPDATE payment_attempt SET status = 'succeeded', intent_id = ${intentId}, failure_code = NULL,
          failure_message = NULL, settled_at = ${timestamptz(now)} WHERE id = ${id}`,
    failed: (id: LedgerEntryId, intentId: string | null, decline: Decline, now: number) =>
      done`
        UPDATE payment_attempt SET status = 'failed', intent_id = coalesce(${intentId}::text, intent_id),
          failure_code = ${decline.code}, failure_message = ${decline.message}, settled_at = ${timestamptz(now)} WHERE id = ${id}`,

    /** Whether money has moved for this cause. */
    hasMoved: (cause: string) => some`SELECT FROM ledger WHERE cause = ${cause}`,

    recharge: (tenantId: TenantId) =>
      first<Recharge>`SELECT ${rechargeColumns} FROM auto_recharge WHERE tenant_id = ${tenantId}`,
    lockRecharge: (tenantId: TenantId) =>
      first<Recharge>`SELECT ${rechargeColumns} FROM auto_recharge WHERE tenant_id = ${tenantId} FOR UPDATE`,
    /** The balance shows the settings only while auto-recharge is enabled. */
    putRecharge: (tenantId: TenantId, recharge: Recharge) =>
      Effect.andThen(
        done`
          INSERT INTO auto_recharge ${values({ tenantId, ...recharge })}
          ON CONFLICT (tenant_id) DO UPDATE SET ${set({ ...recharge })}`,
        done`
          UPDATE balance SET auto_recharge_threshold_cents = ${recharge.enabled ? recharge.thresholdCents : null},
            auto_recharge_amount_cents = ${recharge.enabled ? recharge.amountCents : null} WHERE tenant_id = ${tenantId}`
      ),
    /** The facts that decide over a recharge now, under the lock of `lockRecharge`. */
    rechargeFacts: (tenantId: TenantId, processor: string, midnight: number) =>
      first<{
        readonly balanceCents: number
        readonly isPending: boolean
        readonly succeededToday: number
        readonly isActive: boolean
      }>`
        SELECT b.balance_cents, t.status = 'active' AS is_active,
          EXISTS (SELECT FROM payment_attempt a WHERE a.tenant_id = t.id AND a.processor = ${processor}
            AND a.kind = 'auto_recharge' AND a.status = 'pending') AS is_pending,
          (SELECT count(*) FROM payment_attempt a WHERE a.tenant_id = t.id AND a.kind = 'auto_recharge'
            AND a.status = 'succeeded' AND a.settled_at >= ${timestamptz(midnight)}) AS succeeded_today
        FROM tenant t JOIN balance b ON b.tenant_id = t.id WHERE t.id = ${tenantId}`,
    /** Tenants after this one (null: all) whose balance has fallen to their threshold, in the order of their ids. */
    rechargesDue: (now: number, after: TenantId | null, limit: number) =>
      column<TenantId>`
        SELECT r.tenant_id AS id FROM auto_recharge r JOIN balance b ON b.tenant_id = r.tenant_id
        WHERE r.enabled AND b.balance_cents <= r.threshold_cents
          AND (r.next_try_at IS NULL OR r.next_try_at <= ${timestamptz(now)})
          AND (${after}::text IS NULL OR r.tenant_id > ${after}::text::uuid) ORDER BY r.tenant_id LIMIT ${limit}`,
    thresholds: all<{ readonly tenantId: TenantId; readonly cents: number }>`
      SELECT tenant_id, threshold_cents AS cents FROM auto_recharge WHERE enabled`,

    insertRefund: (refund: Omit<RefundRow, "status" | "refundId" | "failure">) =>
      done`
        INSERT INTO payment_refund ${values({ ...refund, status: "pending" })}`,
    refund: (id: string) => first<RefundRow>`SELECT ${refundColumns} FROM payment_refund WHERE id = ${id}`,
    lockRefund: (id: string) =>
      first<RefundRow>`SELECT ${refundColumns} FROM payment_refund WHERE id = ${id} FOR UPDATE`,
    /** The tenant's refunds that were requested here, the newest first. */
    refunds: (tenantId: TenantId, limit: number) =>
      all<RefundRow>`
        SELECT ${refundColumns} FROM payment_refund WHERE tenant_id = ${tenantId}
        ORDER BY created_at DESC, id LIMIT ${limit}`,
    pendingRefund: (attemptId: LedgerEntryId) =>
      first<RefundRow>`
        SELECT ${refundColumns} FROM payment_refund WHERE attempt_id = ${attemptId} AND status = 'pending'`,
    settleRefund: (
      id: string,
      outcome: {
        readonly status: "succeeded" | "failed"
        readonly refundId: string | null
        readonly failure: string | null
      },
      now: number
    ) =>
      done`
        UPDATE payment_refund SET status = ${outcome.status}, refund_id = coalesce(${outcome.refundId}::text, refund_id),
          failure = ${outcome.failure}, settled_at = ${timestamptz(now)} WHERE id = ${id}`,
    /** Fails a refund, unless it was settled meanwhile. */
    failRefund: (id: string, failure: string, now: number) =>
      done`
        UPDATE payment_refund SET status = 'failed', failure = ${failure}, settled_at = ${timestamptz(now)}
        WHERE id = ${id} AND status = 'pending'`,
    /** The cents of an attempt that went back, by the ledger. */
    wentBack: (tenantId: TenantId, attemptId: LedgerEntryId) =>
      count`
        SELECT coalesce(-sum(amount_cents), 0) AS cents FROM ledger
        WHERE tenant_id = ${tenantId} AND reference_type = 'topup' AND reference_id = ${attemptId}`,

    /** Returns false when the event is stored already. */
    insertEvent: (
      processor: string,
      event: { readonly id: string; readonly type: string; readonly subject: Subject | null },
      now: number
    ) =>
      some`
        INSERT INTO processor_event (id, processor, type, subject_type, subject_id, received_at)
        VALUES (${event.id}, ${processor}, ${event.type}, ${event.subject?.type ?? null}, ${event.subject?.id ?? null},
          ${timestamptz(now)})
        ON CONFLICT DO NOTHING RETURNING 1`,
    eventSubject: (processor: string, id: string) =>
      Effect.map(
        first<{ readonly type: Subject["type"] | null; readonly id: string | null }>`
          SELECT subject_type AS type, subject_id AS id FROM processor_event
          WHERE processor = ${processor} AND id = ${id}`,
        (row) => (row === null || row.type === null || row.id === null ? null : { type: row.type, id: row.id })
      )
  } as const
})
