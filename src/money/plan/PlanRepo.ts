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

export const make = Effect.map(Sql.make, ({ all, column, done, first, json, set, some, sql, value, values }) => {
  const planColumns = sql`slug, name, description, is_public, monthly_fee_cents,
    included, jsonb_build_object('concurrentCallLimit', concurrent_call_limit, 'maxConferenceParticipants', max_conference_participants)
      AS limits, created_at`
  const columns = sql`tenant_id, plan_slug, next_plan_slug, status, began_at, period_start, period_end, included,
    used, through_ordinal::text, concurrent_call_limit, next_try_at`
  const stored = ({ included, periodEnd, periodStart, throughOrdinal, used, ...row }: SubscriptionRow) => ({
    ...row,
    periodStart: timestamptz(periodStart),
    periodEnd: timestamptz(periodEnd),
    included: json(included),
    used: json(used),
    throughOrdinal: sql`${throughOrdinal}::text::bigint`
  })

  return {
    plans: (isPublic: boolean) => all<PlanRow>`
      SELECT ${planColumns} FROM plan WHERE is_public OR NOT ${isPublic}::boolean ORDER BY monthly_fee_cents, slug LIMIT 200`,
    plan: (slug: string) => first<PlanRow>`SELECT ${planColumns} FROM plan WHERE slug = ${slug}`,
    /** Null when the tenant has no plan, or when the plan sets no bound. */
    conferenceParticipants: (tenantId: TenantId) =>
      value<number>`
        SELECT p.max_conference_participants AS most FROM plan_subscription s JOIN plan p ON p.slug = s.plan_slug
        WHERE s.tenant_id = ${tenantId} AND s.status = 'active'`,
    putPlan: ({ createdAt, included, limits, slug, ...plan }: PlanRow) => {
      const changed = { ...plan, ...limits, included: json(included) }
      return done`
        INSERT INTO plan ${values({ slug, createdAt, ...changed })} ON CONFLICT (slug) DO UPDATE SET ${set(changed)}`
    },
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
        value<string>`SELECT ordinal::text FROM ledger WHERE tenant_id = ${tenantId} ORDER BY ledger.ordinal DESC LIMIT 1`,
        (place) => place ?? "-1"
      ),
    /** Returns false when the tenant has a subscription already. */
    insert: (row: SubscriptionRow, at: number) =>
      some`
        INSERT INTO plan_subscription ${values({ ...stored(row), updatedAt: at })}
        ON CONFLICT DO NOTHING RETURNING 1`,
    update: (row: SubscriptionRow, at: number) => done`
      UPDATE plan_subscription SET ${set({ ...stored(row), updatedAt: at })} WHERE tenant_id = ${row.tenantId}`,
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
