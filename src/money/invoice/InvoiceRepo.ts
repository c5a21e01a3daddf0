import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { InvoiceId, TenantId } from "../../domain/Id.ts"
import * as Listing from "../../runtime/store/list/Listing.ts"
import { type InvoiceRow, numberOf, type Party, type Status } from "./InvoiceView.ts"
import type { Group, Statement } from "./Statement.ts"

/** The facts at the time when the invoice was issued. */
interface Document extends Statement {
  readonly seller: Party
  readonly buyer: Party
}

interface Stored {
  readonly id: InvoiceId
  readonly number: number
  readonly status: Status
  readonly periodStart: number
  readonly periodEnd: number
  readonly totalCents: number
  readonly amountDueCents: number
  readonly document: Document
  readonly issuedAt: number
  readonly paidAt: number | null
}

/** A tenant whose next month is over, with its first entry that is in no invoice. */
export interface Due {
  readonly tenantId: TenantId
  readonly after: string
  readonly openingCents: number
  readonly firstAt: number
}

export interface Filters {
  readonly status?: Status
  readonly periodStartAfterMs?: number
}

/** Entries of these types are grouped by their descriptions, because each is a separate thing. */
const named = ["number_order", "number_renewal", "plan_fee", "adjustment", "refund"]

const rowOf = ({ document, number, ...stored }: Stored): InvoiceRow => ({
  ...stored,
  ...document,
  number: numberOf(number),
  taxCents: 0,
  amountPaidCents: stored.totalCents - stored.amountDueCents
})

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const readList = yield* Listing.reader
  const columns = sql`id, number::float8 AS number, status, (extract(epoch FROM period_start) * 1000)::float8 AS "periodStart",
    (extract(epoch FROM period_end) * 1000)::float8 AS "periodEnd", total_cents::float8 AS "totalCents",
    amount_due_cents::float8 AS "amountDueCents", document, (extract(epoch FROM issued_at) * 1000)::float8 AS "issuedAt",
    (extract(epoch FROM paid_at) * 1000)::float8 AS "paidAt"`

  const list = <Item>(tenantId: TenantId, filters: Filters, window: Listing.Window, item: (row: InvoiceRow) => Item) =>
    readList({
      tenantId,
      columns,
      from: sql`invoice`,
      where: sql`tenant_id = ${tenantId}`,
      filters: [
        ...(filters.status === undefined ? [] : [sql`status = ${filters.status}`]),
        ...(filters.periodStartAfterMs === undefined
          ? []
          : [sql`period_start > to_timestamp(${filters.periodStartAfterMs}::float8 / 1000)`])
      ],
      order: Listing.byOrdinal(sql),
      window,
      item: (stored: Stored) => item(rowOf(stored))
    })

  /** `tenantId` is null when a link identifies the invoice. */
  const find = (id: InvoiceId, tenantId: TenantId | null) =>
    Effect.map(
      sql<Stored>`
        SELECT ${columns} FROM invoice
        WHERE id = ${id} AND ${tenantId === null ? sql`true` : sql`tenant_id = ${tenantId}`}`,
      ([stored]) => (stored === undefined ? null : rowOf(stored))
    )

  /** Tenants with an entry that is in no invoice, of a month that ended before `until`: the next month of each. */
  const due = (until: number, without: ReadonlyArray<TenantId>) => sql<Due>`
    SELECT b.tenant_id AS "tenantId", coalesce(i.through_ordinal, -1)::text AS after,
      (l.balance_after_cents - l.amount_cents)::float8 AS "openingCents",
      (extract(epoch FROM greatest(l.created_at, i.period_end)) * 1000)::float8 AS "firstAt"
    FROM balance b
    LEFT JOIN LATERAL (
      SELECT through_ordinal, period_end FROM invoice WHERE tenant_id = b.tenant_id ORDER BY ordinal DESC LIMIT 1
    ) i ON true
    CROSS JOIN LATERAL (
      SELECT created_at, amount_cents, balance_after_cents FROM ledger
      WHERE tenant_id = b.tenant_id AND ordinal > coalesce(i.through_ordinal, -1) ORDER BY ordinal LIMIT 1
    ) l
    WHERE date_trunc('month', greatest(l.created_at, i.period_end), 'UTC') + interval '1 month' <= to_timestamp(${until}::float8 / 1000)
      AND b.tenant_id <> ALL (${without}::text[]::uuid[])
    ORDER BY 4, 1 LIMIT 500`

  /**
   * The entries up to the first one that was booked at `end` or later, grouped by kind. An entry that was committed
   * after that one belongs to the next month, whatever its time.
   */
  const groups = (tenantId: TenantId, after: string, end: number) =>
    sql<Group & { readonly through: string }>`
      WITH next AS MATERIALIZED (
        SELECT coalesce(
          (SELECT ordinal FROM ledger WHERE tenant_id = ${tenantId} AND ordinal > ${after}::text::bigint
            AND created_at >= to_timestamp(${end}::float8 / 1000) ORDER BY ordinal LIMIT 1),
          9223372036854775807) AS ordinal
      )
      SELECT type::text AS type, g.description, is_debit AS "isDebit", is_included AS "isIncluded", is_reversal AS "isReversal",
        count(*)::float8 AS entries,
        sum(amount_cents)::float8 AS cents, (max(max(ordinal)) OVER ())::text AS through
      FROM (
        SELECT ordinal, type, amount_cents, amount_cents < 0 AS is_debit, cause LIKE 'included:%' AS is_included,
          coalesce(reference_type = 'topup', false) AS is_reversal,
          CASE WHEN type = ANY (${named}::text[]) AND cause NOT LIKE 'included:%' THEN description END AS description
        FROM ledger WHERE tenant_id = ${tenantId} AND ordinal > ${after}::text::bigint AND ordinal < (SELECT ordinal FROM next)
      ) g
      GROUP BY 1, 2, 3, 4, 5 ORDER BY abs(sum(amount_cents)) DESC, 1, 2, 3, 4, 5`

  /** The next number. The caller's transaction holds it until its end. */
  const nextNumber = Effect.map(
    sql<{ readonly last: number }>`
      UPDATE invoice_number SET last = last + 1 WHERE name = 'invoice' RETURNING last::float8 AS last`,
    ([row]) => row?.last ?? 1
  )

  const insert = (
    invoice: Omit<Stored, "id"> & {
      readonly id: InvoiceId
      readonly tenantId: TenantId
      readonly period: string
      readonly through: string
    }
  ) => sql`
    INSERT INTO invoice (id, tenant_id, number, status, period, period_start, period_end, through_ordinal, total_cents,
      amount_due_cents, document, issued_at, paid_at)
    VALUES (${invoice.id}, ${invoice.tenantId}, ${invoice.number}, ${invoice.status}, ${invoice.period}::text::date,
      to_timestamp(${invoice.periodStart}::float8 / 1000), to_timestamp(${invoice.periodEnd}::float8 / 1000),
      ${invoice.through}::text::bigint, ${invoice.totalCents}, ${invoice.amountDueCents},
      ${JSON.stringify(invoice.document)}::text::jsonb, to_timestamp(${invoice.issuedAt}::float8 / 1000),
      to_timestamp(${invoice.paidAt}::float8 / 1000))`

  /** Open invoices of tenants whose balance is no longer below zero. */
  const covered = sql<{ readonly id: InvoiceId; readonly tenantId: TenantId }>`
    SELECT i.id, i.tenant_id AS "tenantId" FROM invoice i JOIN balance b ON b.tenant_id = i.tenant_id
    WHERE i.status = 'open' AND b.balance_cents >= 0 ORDER BY i.ordinal LIMIT 500`

  /** Returns true when the invoice was `open` until now. */
  const settle = (id: InvoiceId, status: Status, at: number) =>
    Effect.map(
      sql`
        UPDATE invoice SET status = ${status},
          amount_due_cents = CASE WHEN ${status} = 'paid' THEN 0 ELSE amount_due_cents END,
          paid_at = CASE WHEN ${status} = 'paid' THEN to_timestamp(${at}::float8 / 1000) END
        WHERE id = ${id} AND status = 'open' RETURNING 1`,
      (rows) => rows.length > 0
    )

  const byNumber = (number: number) =>
    Effect.map(
      sql<{ readonly id: InvoiceId; readonly tenantId: TenantId; readonly status: Status }>`
        SELECT id, tenant_id AS "tenantId", status FROM invoice WHERE number = ${number}`,
      ([row]) => row ?? null
    )

  const seller = Effect.map(
    sql<{ readonly party: Party }>`SELECT party FROM invoice_seller WHERE name = 'seller'`,
    ([row]) => row?.party ?? null
  )

  const setSeller = (party: Party, at: number) => sql`
    INSERT INTO invoice_seller (name, party, updated_at)
    VALUES ('seller', ${JSON.stringify(party)}::text::jsonb, to_timestamp(${at}::float8 / 1000))
    ON CONFLICT (name) DO UPDATE SET party = excluded.party, updated_at = excluded.updated_at`

  /** The buyer that the operator set, or else the tenant's own data from signup. */
  const buyer = (tenantId: TenantId) =>
    Effect.map(
      sql<{ readonly party: Party | null; readonly name: string; readonly country: string | null }>`
        SELECT b.party, coalesce(nullif(t.legal_name, ''), t.name) AS name, t.country
        FROM tenant t LEFT JOIN invoice_buyer b ON b.tenant_id = t.id WHERE t.id = ${tenantId}`,
      ([row]): Party =>
        row?.party ?? {
          name: row?.name ?? "",
          address: row === undefined || row.country === null ? [] : [row.country],
          taxId: null,
          email: null
        }
    )

  const setBuyer = (tenantId: TenantId, party: Party, at: number) => sql`
    INSERT INTO invoice_buyer (tenant_id, party, updated_at)
    VALUES (${tenantId}, ${JSON.stringify(party)}::text::jsonb, to_timestamp(${at}::float8 / 1000))
    ON CONFLICT (tenant_id) DO UPDATE SET party = excluded.party, updated_at = excluded.updated_at`

  return {
    list,
    find,
    due,
    groups,
    nextNumber,
    insert,
    covered,
    settle,
    byNumber,
    seller,
    setSeller,
    buyer,
    setBuyer
  } as const
})
