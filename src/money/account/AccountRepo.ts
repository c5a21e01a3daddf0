import { Effect, Result, Schema } from "effect"
import { type EntityId, TenantId } from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import type { Settings } from "./AccountMachine.ts"
import { isCharge } from "../../runtime/store/usage/UsageEntries.ts"
import type { Rows, Unsettled } from "./LiveAccounts.ts"

const OrNull = Schema.NullOr

/** The journaled settings, as JSON. */
const StoredSettings = Schema.Struct({
  tenantId: TenantId,
  status: Schema.Literals(["active", "suspended", "closed"]),
  suspensionReason: OrNull(Schema.Literals(["email_unverified", "operator", "fraud_review"])),
  quota: Schema.Struct({
    dailySpendCapCents: OrNull(Schema.Number),
    monthlySpendCapCents: OrNull(Schema.Number),
    concurrentCallLimit: Schema.Number,
    allowCallerIdForwarding: Schema.Boolean,
    webhookSubscriptionLimit: Schema.Number
  }),
  seq: Schema.Number
})

/** Only charges count as spend. */
const charges = Object.entries(isCharge).flatMap(([type, counts]) => (counts ? [type] : []))

const decode = Schema.decodeUnknownResult(StoredSettings)

export const make = Effect.map(Sql.make, ({ all, done, sql }) => {
  /**
   * The part of the balance that is money of the development processor: what its cards paid and did not get back, less
   * the charges of calls with simulated phones. Those take it first, down to nothing, so the sum counts from where it
   * was lowest. Of a tenant without such payments no entry is read.
   */
  const testMoney = sql`
    SELECT coalesce((array_agg(running ORDER BY ordinal DESC))[1] - least(0, min(running)), 0)::bigint
      AS test_money_cents
    FROM (
      SELECT m.ordinal, sum(m.amount_cents) OVER (ORDER BY m.ordinal) AS running
      FROM ledger m
      LEFT JOIN payment_attempt a ON a.tenant_id = m.tenant_id AND a.processor = 'development'
        AND (a.id = m.id OR (m.reference_type = 'topup' AND a.id = m.reference_id))
      -- A plan gives a charge back.
      LEFT JOIN ledger c ON m.reference_type = 'ledger_entry' AND c.id = m.reference_id
      LEFT JOIN call k ON k.id = CASE 'call' WHEN m.reference_type THEN m.reference_id
        WHEN c.reference_type THEN c.reference_id END
      LEFT JOIN route r ON r.id = k.route_id AND r.adapter = 'simulator'
      WHERE m.tenant_id = e.tenant_id AND (a.id IS NOT NULL OR r.id IS NOT NULL)
        AND (SELECT EXISTS (SELECT FROM payment_attempt p WHERE p.tenant_id = e.tenant_id
          AND p.processor = 'development' AND p.status = 'succeeded'))
    ) moved`

  /**
   * Balance, the plan's limits, the spend of the UTC day and month, and unsettled entities; null for an unknown tenant.
   * Money that the operator takes, and money that returns to a card, is not the tenant's spend. The part of a charge
   * that a plan includes is not either: it comes back by an entry of its own, and counts at the moment of the charge.
   */
  const read = Effect.fn("AccountRepo.read")(function* (tenantId: TenantId, day: string, ids: Iterable<EntityId>) {
    const month = `${day.slice(0, 7)}-01T00:00:00Z`
    const rows = yield* all<
      Rows["money"] & {
        readonly partition: number
        readonly state: unknown
        readonly unsettled: ReadonlyArray<Unsettled>
        readonly born: ReadonlyArray<EntityId>
      }
    >`
      SELECT e.state, e.partition, b.balance_cents, b.credit_limit_cents,
        EXISTS (SELECT FROM auto_recharge r WHERE r.tenant_id = e.tenant_id AND r.last_attempt_status = 'failed')
          AS recharge_failed,
        (SELECT concurrent_call_limit FROM plan_subscription p WHERE p.tenant_id = e.tenant_id) AS plan_call_limit,
        coalesce(l.day, 0) AS day_spent_cents, coalesce(l.month, 0) AS month_spent_cents, t.test_money_cents,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('id', u.id, 'kind', u.kind, 'stateVersion', u.state_version,
          'state', u.state)), '[]')
          FROM entity u WHERE u.tenant_id = e.tenant_id AND NOT u.settled) AS unsettled,
        (SELECT coalesce(jsonb_agg(f.id), '[]') FROM entity f WHERE f.id IN ${sql.in(["", ...ids])}) AS born
      FROM entity e JOIN balance b ON b.tenant_id = e.tenant_id
      CROSS JOIN LATERAL (
        SELECT -sum(amount_cents) FILTER (WHERE created_at >= ${`${day}T00:00:00Z`}::timestamptz) AS day,
          -sum(amount_cents) AS month
        FROM (
          SELECT amount_cents, created_at FROM ledger
          WHERE tenant_id = e.tenant_id AND amount_cents < 0 AND type IN ${sql.in(charges)}
            AND created_at >= ${month}::timestamptz
          UNION ALL
          SELECT back.amount_cents, debit.created_at FROM ledger back JOIN ledger debit ON debit.id = back.reference_id
          WHERE back.tenant_id = e.tenant_id AND back.type = 'adjustment' AND back.reference_type = 'ledger_entry'
            AND back.cause LIKE 'included:%' AND back.created_at >= ${month}::timestamptz
            AND debit.created_at >= ${month}::timestamptz
        ) spent
      ) l
      CROSS JOIN LATERAL (${testMoney}) t
      WHERE e.id = ${tenantId} AND e.kind = 'account'`
    const [row] = rows
    if (row === undefined) return null
    const { born, partition, state, unsettled, ...money } = row
    return {
      partition,
      settings: Result.getOrThrow(decode(state)),
      money,
      unsettled,
      born: new Set(born)
    } satisfies Rows
  })

  const mirrorStatus = (settings: Settings, at: number) => done`
    UPDATE tenant SET status = ${settings.status}, suspension_reason = ${settings.suspensionReason},
      updated_at = ${timestamptz(at)}
    WHERE id = ${settings.tenantId}`

  return { read, mirrorStatus }
})
