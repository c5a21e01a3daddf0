import { Effect } from "effect"
import type { LedgerEntryId, TenantId } from "../../../domain/Id.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import { timestamptz } from "../../../runtime/store/Timestamptz.ts"
import type { Charged, Facts } from "./PayoutMachine.ts"

export interface Row {
  readonly round: number
  readonly requestedAt: number
  /** Null while it is under way. */
  readonly finishedAt: number | null
  /** The balance at its end. */
  readonly leftCents: number | null
}

/** A refund that a payout requested. */
export interface Asked {
  readonly id: string
  readonly round: number
  readonly attemptId: LedgerEntryId
  readonly amountCents: number
  readonly status: "pending" | "succeeded" | "failed"
  readonly failure: string | null
}

/** Rows of payouts. Failed statements die. */
export const make = Effect.map(Sql.make, ({ all, count, done, first, some }) => {
  return {
    /** Begins a new round, unless one is under way. */
    start: Effect.fnUntraced(function* (tenantId: TenantId, now: number) {
      const started = yield* first<{ readonly round: number }>`
        INSERT INTO payout (tenant_id, round, requested_at) VALUES (${tenantId}, 1, ${timestamptz(now)})
        ON CONFLICT (tenant_id) DO UPDATE SET round = payout.round + 1, requested_at = excluded.requested_at,
          finished_at = NULL, left_cents = NULL
        WHERE payout.finished_at IS NOT NULL RETURNING round`
      if (started !== null) return { round: started.round, isNew: true }
      const [row] = yield* all<{ readonly round: number }>`SELECT round FROM payout WHERE tenant_id = ${tenantId}`
      return { round: row?.round ?? 0, isNew: false }
    }),
    /** Returns false when this round is over. */
    lock: (tenantId: TenantId, round: number) =>
      some`SELECT FROM payout WHERE tenant_id = ${tenantId} AND round = ${round} AND finished_at IS NULL FOR UPDATE`,
    /** Locks, in one order, the rows that a refund or a late outcome would lock. Returns what is under way, or null. */
    lockTopUps: Effect.fnUntraced(function* (tenantId: TenantId) {
      const attempts = yield* all<{ readonly status: string }>`
        SELECT status FROM payment_attempt WHERE tenant_id = ${tenantId} AND status <> 'failed' ORDER BY ordinal FOR UPDATE`
      if (attempts.some(({ status }) => status === "pending")) return "a top-up is under way"
      const pending = yield* first`
        SELECT FROM payment_refund WHERE tenant_id = ${tenantId} AND status = 'pending' LIMIT 1`
      return pending === null ? null : "a refund is under way"
    }),
    /** Runs after `lockTopUps`, and locks the balance. */
    facts: Effect.fnUntraced(function* (tenantId: TenantId, processor: string, round: number) {
      const [balance] = yield* all<{ readonly cents: number }>`
        SELECT balance_cents AS cents FROM balance WHERE tenant_id = ${tenantId} FOR UPDATE`
      const trial = yield* first<{ readonly cents: number }>`
        SELECT amount_cents AS cents FROM ledger WHERE cause = ${`trial:${tenantId}`}`
      const trialCents = trial?.cents ?? 0
      // Everything counts except the trial credit, the operator's adjustments, and money to or from cards.
      const spent =
        trialCents === 0
          ? null
          : yield* first<{ readonly cents: number }>`
            SELECT coalesce(-sum(amount_cents), 0) AS cents FROM ledger
            WHERE tenant_id = ${tenantId} AND type NOT IN ('topup', 'auto_recharge')
              AND reference_type IS DISTINCT FROM 'topup' AND cause NOT LIKE 'adjustment:%' AND cause NOT LIKE 'trial:%'`
      const topUps = yield* all<Charged>`
        SELECT a.id AS attempt_id, a.amount_cents + (SELECT coalesce(sum(l.amount_cents), 0) FROM ledger l
            WHERE l.tenant_id = a.tenant_id AND l.reference_type = 'topup' AND l.reference_id = a.id) AS left_cents,
          a.processor <> ${processor} OR EXISTS (SELECT FROM payment_refund r
            WHERE r.attempt_id = a.id AND r.payout_round = ${round} AND r.status = 'failed') AS is_closed
        FROM payment_attempt a WHERE a.tenant_id = ${tenantId} AND a.status = 'succeeded' ORDER BY a.ordinal DESC`
      return {
        balanceCents: balance?.cents ?? 0,
        trialCents,
        spentCents: spent?.cents ?? 0,
        topUps
      } satisfies Facts
    }),
    /** The number of refunds of a top-up that payouts have requested, under its lock. */
    asked: (attemptId: LedgerEntryId) =>
      count`SELECT count(*) AS count FROM payment_refund WHERE attempt_id = ${attemptId} AND payout_round IS NOT NULL`,
    finish: (tenantId: TenantId, leftCents: number, now: number) =>
      done`UPDATE payout SET finished_at = ${timestamptz(now)}, left_cents = ${leftCents} WHERE tenant_id = ${tenantId}`,
    find: (tenantId: TenantId) =>
      first<Row>`SELECT round, requested_at, finished_at, left_cents FROM payout WHERE tenant_id = ${tenantId}`,
    /** The refunds of all rounds, the newest first. */
    refunds: (tenantId: TenantId) =>
      all<Asked>`
        SELECT id, payout_round AS round, attempt_id, amount_cents, status, failure
        FROM payment_refund WHERE tenant_id = ${tenantId} AND payout_round IS NOT NULL ORDER BY created_at DESC, id`
  } as const
})
