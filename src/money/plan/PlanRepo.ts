import { Effect } from "effect"
import type { EntryType } from "../../domain/EntryType.ts"
import type { LedgerEntryId, TenantId } from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import type { Quantities } from "./Included.ts"
import type { PlanRow } from "./PlanView.ts"

export interface SubscriptionRow {
  readonly tenantId: TenantId
  readonly planSlug: string
  /** Null when the subscription ends with the period. */
  readonly nextPlanSlug: string | null
  readonly status: "active" | "past_due"
  readonly beganAt: number
  readonly periodStart: number
  readonly periodEnd: number
  readonly included: Quantities
  readonly used: Quantities
  readonly throughOrdinal: string
  /** The limit of the period; null when the plan sets none. */
  readonly concurrentCallLimit: number | null
  readonly nextTryAt: number
}

interface Debit {
  readonly id: LedgerEntryId
  readonly place: string
  readonly type: EntryType
  readonly cents: number
  readonly referenceId: string | null
}

/** The entries that one transaction looks at. */
export const portion = 200

export const make = Effect.map(Sql.make, ({ all, column, done, first, some, sql, value }) => {
  const planColumns = sql`slug, name, description, is_public, monthly_fee_cents,
    included, jsonb_build_object('concurrentCallLimit', concurrent_call_limit, 'maxConferenceParticipants', max_conference_participants)
      AS limits, created_at`
  const columns = sql`tenant_id, plan_slug, next_plan_slug, status, began_at, period_start, period_end, included,
    used, through_ordinal::text, concurrent_call_limit, next_try_at`

  return {
    plans: (isPublic: boolean) => all<PlanRow>`
      SELECT ${planColumns} FROM plan WHERE is_public OR NOT ${isPublic}::boolean ORDER BY monthly_fee_cents, slug LIMIT 200`,
    plan: (slug: string) => first<PlanRow>`SELECT ${planColumns} FROM plan WHERE slug = ${slug}`,
    /** Null when the tenant has no plan, or when the plan sets no bound. */
    conferenceParticipants: (tenantId: TenantId) =>
      value<number>`
        SELECT p.max_conference_participants AS most FROM plan_subscription s JOIN plan p ON p.slug = s.plan_slug
        WHERE s.tenant_id = ${tenantId} AND s.status = 'active'`,
    putPlan: (plan: PlanRow) => done`
      INSERT INTO plan (slug, name, description, is_public, monthly_fee_cents, included, concurrent_call_limit,
        max_conference_participants, created_at)
      VALUES (${plan.slug}, ${plan.name}, ${plan.description}, ${plan.isPublic}, ${plan.monthlyFeeCents},
        ${JSON.stringify(plan.included)}::text::jsonb, ${plan.limits.concurrentCallLimit},
        ${plan.limits.maxConferenceParticipants}, ${timestamptz(plan.createdAt)})
      ON CONFLICT (slug) DO UPDATE SET name = excluded.name, description = excluded.description, is_public = excluded.is_public,
        monthly_fee_cents = excluded.monthly_fee_cents, included = excluded.included,
        concurrent_call_limit = excluded.concurrent_call_limit, max_conference_participants = excluded.max_conference_participants`,
    find: (tenantId: TenantId, isLocked: boolean) =>
      first<SubscriptionRow>`
        SELECT ${columns} FROM plan_subscription WHERE tenant_id = ${tenantId} ${isLocked ? sql`FOR UPDATE` : sql``}`,
    /** Balance plus credit limit. They are locked until the end of the transaction. */
    lockFunds: (tenantId: TenantId) =>
      value<number>`
        SELECT balance_cents + credit_limit_cents AS funds FROM balance WHERE tenant_id = ${tenantId} FOR UPDATE`,
    /** The newest entry of the tenant's ledger. */
    newest: (tenantId: TenantId) =>
      Effect.map(
        all<{ readonly place: string }>`
          SELECT ordinal::text AS place FROM ledger WHERE tenant_id = ${tenantId} ORDER BY ordinal DESC LIMIT 1`,
        ([row]) => row?.place ?? "-1"
      ),
    /** Returns false when the tenant has a subscription already. */
    insert: (row: SubscriptionRow, at: number) =>
      some`
        INSERT INTO plan_subscription (tenant_id, plan_slug, next_plan_slug, status, began_at, period_start, period_end, included,
          used, through_ordinal, concurrent_call_limit, next_try_at, updated_at)
        VALUES (${row.tenantId}, ${row.planSlug}, ${row.nextPlanSlug}, ${row.status}, ${timestamptz(row.beganAt)},
          ${timestamptz(row.periodStart)}, ${timestamptz(row.periodEnd)},
          ${JSON.stringify(row.included)}::text::jsonb, ${JSON.stringify(row.used)}::text::jsonb,
          ${row.throughOrdinal}::text::bigint, ${row.concurrentCallLimit}, ${timestamptz(row.nextTryAt)},
          ${timestamptz(at)})
        ON CONFLICT DO NOTHING RETURNING 1`,
    update: (row: SubscriptionRow, at: number) => done`
      UPDATE plan_subscription SET plan_slug = ${row.planSlug}, next_plan_slug = ${row.nextPlanSlug}, status = ${row.status},
        period_start = ${timestamptz(row.periodStart)}, period_end = ${timestamptz(row.periodEnd)},
        included = ${JSON.stringify(row.included)}::text::jsonb, used = ${JSON.stringify(row.used)}::text::jsonb,
        through_ordinal = ${row.throughOrdinal}::text::bigint, concurrent_call_limit = ${row.concurrentCallLimit}, next_try_at = ${timestamptz(row.nextTryAt)},
        updated_at = ${timestamptz(at)}
      WHERE tenant_id = ${row.tenantId}`,
    remove: (tenantId: TenantId) => done`DELETE FROM plan_subscription WHERE tenant_id = ${tenantId}`,
    /** Whether any call is not over or not paid. */
    hasCalls: (tenantId: TenantId) =>
      some`SELECT FROM entity WHERE kind IN ('call', 'conference') AND NOT settled AND tenant_id = ${tenantId} LIMIT 1`,
    /** Tenants whose fee may be due, and closed tenants. */
    due: (at: number) =>
      column<TenantId>`
        SELECT tenant_id FROM plan_subscription s WHERE next_try_at <= ${timestamptz(at)}
          OR EXISTS (SELECT FROM tenant t WHERE t.id = s.tenant_id AND t.status = 'closed')
        ORDER BY next_try_at LIMIT 500`,
    /** Tenants with debits after the position that their subscription has reached. */
    uncovered: column<TenantId>`
      SELECT s.tenant_id FROM plan_subscription s
      WHERE s.included <> '{}'::jsonb AND s.status = 'active' AND EXISTS (
        SELECT 1 FROM ledger l WHERE l.tenant_id = s.tenant_id AND l.ordinal > s.through_ordinal
      )`,
    /** A statement sees a prefix of a tenant's ledger, so no entry appears before a position that was passed. */
    debits: (tenantId: TenantId, after: string) => all<Debit>`
      SELECT id, ordinal::text AS place, type, -amount_cents AS cents, reference_id FROM ledger
      WHERE tenant_id = ${tenantId} AND ordinal > ${after}::text::bigint ORDER BY ordinal LIMIT ${portion}`
  } as const
})
export type PlanRepo = Effect.Success<typeof make>
