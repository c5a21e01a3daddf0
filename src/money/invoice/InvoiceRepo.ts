import { Effect } from "effect"
import type { InvoiceId, TenantId } from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { timestamptz } from "../../runtime/store/Timestamptz.ts"
import * as Listing from "../../runtime/store/list/Listing.ts"
import { type InvoiceRow, numberOf, type Party, type Status } from "./InvoiceView.ts"
import { type Group, isPayment, type Statement } from "./Statement.ts"

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
  amountPaidCents: stored.totalCents - stored.amountDueCents,
  // The unpaid part of a void invoice is kept, because the balance lacks it. The tenant does not owe it.
  amountDueCents: stored.status === "void" ? 0 : stored.amountDueCents
})

/** The amount that was due at issue: as much of the total as the balance did not cover. */
export const owedCents = (totalCents: number, closingBalanceCents: number): number =>
  Math.min(Math.max(0, totalCents), Math.max(0, -closingBalanceCents))

export const make = Effect.gen(function* () {
  const { all, column, count, done, equal, first, json, some, sql, value, values } = yield* Sql.make
  const readList = yield* Listing.reader
  const columns = sql`id, number, status, period_start, period_end, total_cents, amount_due_cents, document,
    issued_at, paid_at`

  const list = <Item>(tenantId: TenantId, filters: Filters, window: Listing.Window, item: (row: InvoiceRow) => Item) =>
    readList({
      tenantId,
      columns,
      from: "invoice",
      filters: [
        ...equal({ status: filters.status }),
        ...(filters.periodStartAfterMs === undefined
          ? []
          : [sql`period_start > ${timestamptz(filters.periodStartAfterMs)}`])
      ],
      order: Listing.byOrdinal(sql),
      window,
      item: (stored: Stored) => item(rowOf(stored))
    })

  /** `tenantId` is null when a link identifies the invoice. */
  const find = (id: InvoiceId, tenantId: TenantId | null) =>
    Effect.map(
      all<Stored>`
        SELECT ${columns} FROM invoice
        WHERE id = ${id} AND ${tenantId === null ? sql`true` : sql`tenant_id = ${tenantId}`}`,
      ([stored]) => (stored === undefined ? null : rowOf(stored))
    )

  /** Tenants with an entry that is in no invoice, of a month that ended before `until`: the next month of each. */
  const due = (until: number, without: ReadonlyArray<TenantId>) => all<Due>`
    SELECT b.tenant_id, coalesce(i.through_ordinal, -1)::text AS after,
      l.balance_after_cents - l.amount_cents AS opening_cents, greatest(l.created_at, i.period_end) AS first_at
    FROM balance b
    LEFT JOIN LATERAL (
      SELECT through_ordinal, period_end FROM invoice WHERE tenant_id = b.tenant_id ORDER BY ordinal DESC LIMIT 1
    ) i ON true
    CROSS JOIN LATERAL (
      SELECT created_at, amount_cents, balance_after_cents FROM ledger
      WHERE tenant_id = b.tenant_id AND ordinal > coalesce(i.through_ordinal, -1) ORDER BY ordinal LIMIT 1
    ) l
    WHERE date_trunc('month', greatest(l.created_at, i.period_end), 'UTC') + interval '1 month' <= ${timestamptz(until)}
      AND b.tenant_id <> ALL (${without}::text[]::uuid[])
    ORDER BY 4, 1 LIMIT 500`

  /**
   * The entries up to the first one that was booked at `end` or later, grouped by kind. An entry that was committed
   * after that one belongs to the next month, whatever its time.
   */
  const groups = (tenantId: TenantId, after: string, end: number) => grouped(tenantId, after, end, named)

  /** The tenant's payments after this entry, less those that went back, in cents. */
  const paidAfter = (tenantId: TenantId, after: string) =>
    Effect.map(grouped(tenantId, after, null, []), (found) =>
      found.filter(isPayment).reduce((sum, { cents }) => sum + cents, 0)
    )

  /** The entries of the types `apart` are grouped by their descriptions, too. `end` null: up to the newest entry. */
  const grouped = (tenantId: TenantId, after: string, end: number | null, apart: ReadonlyArray<string>) =>
    all<Group & { readonly through: string }>`
      WITH next AS MATERIALIZED (
        SELECT coalesce(
          (SELECT ordinal FROM ledger WHERE tenant_id = ${tenantId} AND ordinal > ${after}::text::bigint
            AND created_at >= ${end === null ? sql`'infinity'` : timestamptz(end)} ORDER BY ordinal LIMIT 1),
          9223372036854775807) AS ordinal
      )
      SELECT type::text AS type, g.description, is_debit, is_included, is_correction, is_reversal, count(*) AS entries,
        sum(amount_cents) AS cents, (max(max(ordinal)) OVER ())::text AS through
      FROM (
        SELECT ordinal, type, amount_cents, amount_cents < 0 AS is_debit, cause LIKE 'included:%' AS is_included,
          cause LIKE 'correction:%' AS is_correction, coalesce(reference_type = 'topup', false) AS is_reversal,
          CASE WHEN type = ANY (${apart}::text[]) AND cause NOT LIKE 'included:%' THEN description END AS description
        FROM ledger WHERE tenant_id = ${tenantId} AND ordinal > ${after}::text::bigint AND ordinal < (SELECT ordinal FROM next)
      ) g
      GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY abs(sum(amount_cents)) DESC, 1, 2, 3, 4, 5, 6`

  /** The next number. The caller's transaction holds it until its end. */
  const nextNumber = count`UPDATE invoice_number SET last = last + 1 WHERE name = 'invoice' RETURNING last`

  const insert = (
    invoice: Stored & { readonly tenantId: TenantId; readonly period: string; readonly throughOrdinal: string }
  ) => done`
    INSERT INTO invoice ${values({
      ...invoice,
      period: sql`${invoice.period}::text::date`,
      periodStart: timestamptz(invoice.periodStart),
      periodEnd: timestamptz(invoice.periodEnd),
      throughOrdinal: sql`${invoice.throughOrdinal}::text::bigint`,
      document: json(invoice.document)
    })}`

  /**
   * Some tenants after this one, in the order of their ids, whose payments may have reached invoices: with an open one,
   * or with less debt than those that were given up show.
   */
  const owing = (after: TenantId | null) =>
    column<TenantId>`
      SELECT i.tenant_id FROM invoice i JOIN balance b ON b.tenant_id = i.tenant_id
      WHERE i.status IN ('open', 'void', 'uncollectible') AND i.amount_due_cents > 0
        AND (${after}::text IS NULL OR i.tenant_id > ${after}::text::uuid)
      GROUP BY i.tenant_id, b.balance_cents
      HAVING bool_or(i.status = 'open') OR sum(i.amount_due_cents) > greatest(0, -b.balance_cents)
      ORDER BY i.tenant_id LIMIT 500`

  /**
   * Locks a tenant's unpaid invoices until the transaction ends, the oldest first, and returns them with the cents that
   * it owes for invoiced use. Payments since the last invoice reduce the debt, and use since then does not add to it.
   */
  const lockUnpaid = Effect.fnUntraced(function* (tenantId: TenantId) {
    const invoices = yield* all<Stored>`
      SELECT ${columns} FROM invoice
      WHERE tenant_id = ${tenantId} AND status IN ('open', 'void', 'uncollectible') AND amount_due_cents > 0
      ORDER BY ordinal FOR UPDATE`
    const last = yield* first<{ readonly through: string; readonly document: Document }>`
      SELECT through_ordinal::text AS through, document FROM invoice
      WHERE tenant_id = ${tenantId} ORDER BY ordinal DESC LIMIT 1`
    const balance = yield* value<number>`SELECT balance_cents AS cents FROM balance WHERE tenant_id = ${tenantId}`
    const paid = last === null ? 0 : yield* paidAfter(tenantId, last.through)
    const invoicedCents = last === null ? 0 : last.document.closingBalanceCents + paid
    return { invoices, debtCents: Math.max(0, Math.min(-invoicedCents, -(balance ?? 0))) }
  })

  /** The cents that are unpaid of a tenant's invoices that were given up. */
  const givenUpCents = (tenantId: TenantId) =>
    count`
      SELECT coalesce(sum(amount_due_cents), 0) FROM invoice
      WHERE tenant_id = ${tenantId} AND status IN ('void', 'uncollectible')`

  /** Writes what is due. An open invoice with nothing due is paid. */
  const setDue = (id: InvoiceId, dueCents: number, at: number) =>
    done`
      UPDATE invoice SET amount_due_cents = ${dueCents},
        status = CASE WHEN status = 'open' AND ${dueCents}::bigint = 0 THEN 'paid' ELSE status END,
        paid_at = CASE WHEN status = 'open' AND ${dueCents}::bigint = 0 THEN ${timestamptz(at)} ELSE paid_at END
      WHERE id = ${id}`

  /** Returns true when the invoice was `open` until now. */
  const giveUp = (id: InvoiceId, status: "void" | "uncollectible") =>
    some`UPDATE invoice SET status = ${status} WHERE id = ${id} AND status = 'open' RETURNING 1`

  const byNumber = (number: number) =>
    first<{ readonly id: InvoiceId; readonly tenantId: TenantId; readonly status: Status }>`
      SELECT id, tenant_id, status FROM invoice WHERE number = ${number}`

  const seller = value<Party>`SELECT party FROM invoice_seller WHERE name = 'seller'`

  const setSeller = (party: Party, at: number) => done`
    INSERT INTO invoice_seller ${values({ name: "seller", party: json(party), updatedAt: at })}
    ON CONFLICT (name) DO UPDATE SET party = excluded.party, updated_at = excluded.updated_at`

  /** The buyer that the operator set, or else the tenant's own data from signup. */
  const buyer = (tenantId: TenantId) =>
    Effect.map(
      all<{ readonly party: Party | null; readonly name: string; readonly country: string | null }>`
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

  const setBuyer = (tenantId: TenantId, party: Party, at: number) => done`
    INSERT INTO invoice_buyer ${values({ tenantId, party: json(party), updatedAt: at })}
    ON CONFLICT (tenant_id) DO UPDATE SET party = excluded.party, updated_at = excluded.updated_at`

  return {
    list,
    find,
    due,
    groups,
    nextNumber,
    insert,
    owing,
    lockUnpaid,
    givenUpCents,
    setDue,
    giveUp,
    byNumber,
    seller,
    setSeller,
    buyer,
    setBuyer
  } as const
})
