import { Effect, Result, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { AccountState, Settings, Tally } from "./AccountMachine.ts"

const OrNull = Schema.NullOr

/** The journaled settings, as JSON. */
const StoredSettings = Schema.Struct({
  tenantId: Schema.String,
  status: Schema.Literals(["active", "suspended", "closed"]),
  suspensionReason: OrNull(Schema.Literals(["email_unverified", "operator", "fraud_review"])),
  quota: Schema.Struct({
    dailySpendCapCents: OrNull(Schema.Number),
    monthlySpendCapCents: OrNull(Schema.Number),
    concurrentCallLimit: Schema.Number,
    allowCallerIdForwarding: Schema.Boolean
  }),
  seq: Schema.Number
})

const decode = Schema.decodeUnknownResult(StoredSettings)

type Money = Pick<Tally, "balanceCents" | "creditLimitCents" | "daySpentCents" | "monthSpentCents">

export const make = (sql: SqlClient.SqlClient) => {
  /** Balance, and the debits of the UTC day and month (decision 2.5); null for an unknown tenant. */
  const money = Effect.fn("AccountRepo.money")(function* (tenantId: string, day: string) {
    const rows = yield* Effect.orDie(sql<Money>`
      SELECT b.balance_cents::float8 AS "balanceCents", b.credit_limit_cents::float8 AS "creditLimitCents",
        coalesce(-sum(l.amount_cents) FILTER (WHERE l.created_at >= ${`${day}T00:00:00Z`}::timestamptz), 0)::float8 AS "daySpentCents",
        coalesce(-sum(l.amount_cents), 0)::float8 AS "monthSpentCents"
      FROM balance b LEFT JOIN ledger l ON l.tenant_id = b.tenant_id AND l.amount_cents < 0
        AND l.created_at >= ${`${day.slice(0, 7)}-01T00:00:00Z`}::timestamptz
      WHERE b.tenant_id = ${tenantId} GROUP BY b.tenant_id`)
    return rows[0] ?? null
  })

  const load = Effect.fn("AccountRepo.load")(function* (tenantId: string, today: Effect.Effect<string>) {
    const day = yield* today
    const rows = yield* Effect.orDie(sql<{ readonly state: unknown; readonly live: number }>`
      SELECT state, (SELECT count(*)::int FROM entity c JOIN call ON call.id = c.id
        WHERE c.kind = 'call' AND NOT c.settled AND c.tenant_id = e.tenant_id AND call.status NOT IN ('ended', 'failed')) AS live
      FROM entity e WHERE id = ${tenantId} AND kind = 'account'`)
    const tally = yield* money(tenantId, day)
    const [row] = rows
    if (row === undefined || tally === null) return null
    const settings: Settings = Result.getOrThrow(decode(row.state))
    return { settings, tally: { ...tally, day, liveCalls: row.live } } satisfies AccountState
  })

  const mirrorStatus = (settings: Settings, at: number) => sql`
    UPDATE tenant SET status = ${settings.status}, suspension_reason = ${settings.suspensionReason},
      updated_at = to_timestamp(${at} / 1000.0)
    WHERE id = ${settings.tenantId}`

  return { money, load, mirrorStatus }
}
