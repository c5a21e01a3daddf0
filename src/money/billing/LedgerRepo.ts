import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import type { EntryType } from "../../domain/EntryType.ts"
import type * as Id from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import * as ListClient from "../../runtime/store/list/ListClient.ts"
import * as Listing from "../../runtime/store/list/Listing.ts"
import * as Portions from "../../runtime/store/list/Portions.ts"
import { type LedgerEntry, ledgerEntry } from "./BillingView.ts"

export interface LedgerFilters {
  readonly type?: EntryType
  readonly createdAfterMs?: number
  readonly createdBeforeMs?: number
}

/** The rows that one read of the whole ledger looks at. */
const portionRows = 2_000

/** The columns that are shown of an entry. */
export const entryColumns = (sql: SqlClient.SqlClient): Fragment => sql`id, type, amount_cents, balance_after_cents,
  description, reference_type, reference_id, created_at`

/** Reads the ledger of a tenant. Tenants take turns (`ListClient`). */
export const make = Effect.gen(function* () {
  const readList = yield* Listing.reader
  const { sql, within } = yield* ListClient.reading
  const { between, equal, first } = Sql.of(sql)

  const matching = ({ createdAfterMs, createdBeforeMs, type }: LedgerFilters): ReadonlyArray<Fragment> => [
    ...equal({ type }),
    ...between("createdAt", createdAfterMs, createdBeforeMs)
  ]

  const page = (tenantId: Id.TenantId, filters: LedgerFilters, window: Listing.Window) =>
    readList({
      tenantId,
      columns: entryColumns(sql),
      from: "ledger",
      filters: matching(filters),
      order: Listing.byOrdinal(sql),
      window,
      item: ledgerEntry
    })

  const portion = (tenantId: Id.TenantId, filters: LedgerFilters, after: string) => {
    const wanted = matching(filters)
    return within(
      tenantId,
      Effect.map(
        sql<LedgerEntry & { readonly place: string; readonly isWanted: boolean }>`
          SELECT ordinal::text AS place, ${wanted.length === 0 ? sql`true` : sql.and(wanted)} AS is_wanted, ${entryColumns(sql)}
          FROM ledger WHERE tenant_id = ${tenantId} AND ordinal > ${after}::text::bigint ORDER BY ordinal LIMIT ${portionRows}`,
        (rows) => ({
          part: rows.filter(({ isWanted }) => isWanted).map((row) => ledgerEntry(row)),
          next: rows.length < portionRows ? null : (rows.at(-1)?.place ?? null)
        })
      )
    )
  }

  /** Every entry, the oldest first, in portions that are read as they are pulled. Run it once. */
  const whole = (tenantId: Id.TenantId, filters: LedgerFilters) =>
    Portions.stream((after: string | null) => portion(tenantId, filters, after ?? "-1"))

  /** Null when there is no such entry. */
  const entry = (tenantId: Id.TenantId, id: Id.LedgerEntryId) =>
    Effect.map(
      first<LedgerEntry>`SELECT ${entryColumns(sql)} FROM ledger WHERE tenant_id = ${tenantId} AND id = ${id}`,
      (row) => (row === null ? null : ledgerEntry(row))
    )

  return { page, whole, entry } as const
})
