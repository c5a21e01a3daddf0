import { Effect } from "effect"
import { entryColumns, type LedgerEntry } from "../billing/Billing.ts"
import type { TenantId } from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import type { Leaf, Named } from "./Chain.ts"

/** A tenant's seal by one round of the sealer. Amounts are in cents, moments in epoch milliseconds. */
export interface Seal extends Leaf {
  readonly day: string
  readonly throughAt: number
  readonly entries: number
  readonly creditsCents: number
  readonly debitsCents: number
  readonly balanceBeforeCents: number
}

interface Root extends Named {
  readonly seals: number
  readonly entries: number
  readonly rootHash: string
}

/** A row of the ledger with its place in the order. */
type PlacedEntry = LedgerEntry & { readonly place: string }

/** Calls that cost something, and those whose debit has the same amount. */
interface Calls {
  readonly rated: number
  readonly debited: number
}

interface Standing {
  readonly balanceCents: number
  readonly entries: number
  readonly sumCents: number
  /** The number of entries whose `balance_after_cents` is not the sum up to them. */
  readonly wrong: number
  /** The number of card charges whose outcome is not known yet. */
  readonly attemptsOpen: number
}

/** The place before every entry, even before one that was inserted in front of the first. */
export const starting = "-9223372036854775808"

/** The rows of one read. Each is hashed on the event loop, so a read takes a few milliseconds. */
const portionRows = 1_000

export const make = Effect.map(Sql.make, ({ all, column, done, first, some, sql, values }) => {
  const sealColumns = sql`tenant_id, number, day, through_ordinal::text, through_at,
    entries, credits_cents, debits_cents, balance_before_cents, balance_cents, total_entries, chain_hash, calls_rated,
    calls_debited, calls_until`
  const rootColumns = sql`version, number, day, seals, entries, root_hash`

  /** Entries after a place, in order. One snapshot sees a prefix of a tenant's ledger. */
  const entries = (tenantId: TenantId, after: string, upTo: string | null = null) => all<PlacedEntry>`
    SELECT ordinal::text AS place, ${entryColumns(sql)} FROM ledger
    WHERE tenant_id = ${tenantId} AND ordinal > ${after}::text::bigint
      AND ${upTo === null ? sql`true` : sql`ordinal <= ${upTo}::text::bigint`}
    ORDER BY ordinal LIMIT ${portionRows}`

  const lastSeal = (tenantId: TenantId) =>
    first<Seal>`SELECT ${sealColumns} FROM ledger_seal WHERE tenant_id = ${tenantId} ORDER BY number DESC LIMIT 1`

  /**
   * The last seal that counts calls up to `until` at most. This is the last seal, unless the clock was set back to
   * before the time up to which that one counts.
   */
  const counting = (last: Seal | null, until: number) =>
    last === null || last.callsUntil <= until
      ? Effect.succeed(last)
      : first<Seal>`
        SELECT ${sealColumns} FROM ledger_seal
        WHERE tenant_id = ${last.tenantId} AND calls_until <= ${timestamptz(until)}
        ORDER BY number DESC LIMIT 1`

  const seals = (tenantId: TenantId) =>
    all<Seal>`SELECT ${sealColumns} FROM ledger_seal WHERE tenant_id = ${tenantId} ORDER BY number`

  /** Tenants that have entries after their last seal, and no seal of this day. */
  const unsealed = (day: string) =>
    column<TenantId>`
      SELECT b.tenant_id AS id FROM balance b
      LEFT JOIN LATERAL (
        SELECT through_ordinal FROM ledger_seal WHERE tenant_id = b.tenant_id ORDER BY number DESC LIMIT 1
      ) s ON true
      CROSS JOIN LATERAL (SELECT ordinal FROM ledger WHERE tenant_id = b.tenant_id ORDER BY ordinal DESC LIMIT 1) l
      WHERE l.ordinal > coalesce(s.through_ordinal, -1)
        AND NOT EXISTS (SELECT FROM ledger_seal WHERE day = ${day}::text::date AND tenant_id = b.tenant_id)
      ORDER BY b.tenant_id`

  /**
   * Counts the calls that began within these moments. Rows of calls are deleted after their retention time; those of
   * the ledger are not.
   */
  const calls = (tenantId: TenantId, from: number | null, until: number | null) =>
    Effect.map(
      all<Calls>`
        SELECT count(*) AS rated, count(l.id) AS debited
        FROM call c LEFT JOIN ledger l ON l.cause = 'call:' || c.id AND l.amount_cents = -c.cost_cents
        WHERE c.tenant_id = ${tenantId} AND c.cost_cents > 0
          AND ${from === null ? sql`true` : sql`c.initiated_at >= ${timestamptz(from)}`}
          AND ${until === null ? sql`true` : sql`c.initiated_at < ${timestamptz(until)}`}`,
      ([row]) => row ?? { rated: 0, debited: 0 }
    )

  /** The balance and the tail of the ledger at one moment; null for an unknown tenant. */
  const standing = (tenantId: TenantId, after: { readonly ordinal: string; readonly balanceCents: number }) =>
    first<Standing>`
      SELECT b.balance_cents, t.*,
        (SELECT count(*) FROM payment_attempt WHERE tenant_id = b.tenant_id AND status = 'pending') AS attempts_open
      FROM balance b CROSS JOIN (
        SELECT count(*) AS entries, coalesce(sum(amount_cents), 0) AS sum_cents,
          count(*) FILTER (WHERE balance_after_cents <> ${after.balanceCents}::float8::bigint + running) AS wrong
        FROM (
          SELECT amount_cents, balance_after_cents, sum(amount_cents) OVER (ORDER BY ordinal) AS running
          FROM ledger WHERE tenant_id = ${tenantId} AND ordinal > ${after.ordinal}::text::bigint
        ) tail
      ) t WHERE b.tenant_id = ${tenantId}`

  const insertSeal = (seal: Seal) => done`
    INSERT INTO ledger_seal ${values({
      ...seal,
      day: sql`${seal.day}::text::date`,
      throughOrdinal: sql`${seal.throughOrdinal}::text::bigint`,
      callsUntil: timestamptz(seal.callsUntil)
    })}`

  /** Days with seals and without a root, the oldest first. The query jumps from each day to the next. */
  const openDays = column<string>`
    WITH RECURSIVE sealed AS (
      (SELECT day FROM ledger_seal ORDER BY day LIMIT 1)
      UNION ALL
      SELECT (SELECT s.day FROM ledger_seal s WHERE s.day > sealed.day ORDER BY s.day LIMIT 1)
      FROM sealed WHERE sealed.day IS NOT NULL
    )
    SELECT day FROM sealed
    WHERE day IS NOT NULL AND NOT EXISTS (SELECT FROM ledger_seal_root r WHERE r.day = sealed.day) ORDER BY day`

  const sealsOf = (day: string) =>
    all<Seal>`SELECT ${sealColumns} FROM ledger_seal WHERE day = ${day}::text::date ORDER BY tenant_id`

  const roots = all<Root>`SELECT ${rootColumns} FROM ledger_seal_root ORDER BY number`

  const lastRoot = first<Root>`SELECT ${rootColumns} FROM ledger_seal_root ORDER BY number DESC LIMIT 1`

  const hasRoot = (day: string) => some`SELECT FROM ledger_seal_root WHERE day = ${day}::text::date`

  /** Inserts a root that names the tenants with a seal of its day. */
  const insertRoot = (root: Root, tenantIds: ReadonlyArray<TenantId>, at: number) => done`
    INSERT INTO ledger_seal_root ${values({
      ...root,
      day: sql`${root.day}::text::date`,
      sealedAt: at,
      tenantIds: sql`${tenantIds}::text[]::uuid[]`
    })}`

  /** The tenants that a root names and that have no seal of its day. Roots of earlier versions name none. */
  const lostSeals = (number: number) => column<TenantId>`
    SELECT named.id FROM ledger_seal_root r CROSS JOIN unnest(r.tenant_ids) AS named (id)
    WHERE r.number = ${number}
      AND NOT EXISTS (SELECT FROM ledger_seal s WHERE s.day = r.day AND s.tenant_id = named.id) ORDER BY named.id`

  /** Tenants that have a balance, or that had one when they were sealed. */
  const tenants = column<TenantId>`
    SELECT tenant_id AS id FROM balance UNION SELECT tenant_id FROM ledger_seal ORDER BY id`

  return {
    entries,
    lastSeal,
    counting,
    seals,
    unsealed,
    calls,
    standing,
    insertSeal,
    openDays,
    sealsOf,
    hasRoot,
    roots,
    lastRoot,
    insertRoot,
    lostSeals,
    tenants
  } as const
})
export type ProofRepo = Effect.Success<typeof make>
