import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { TenantId } from "../domain/Id.ts"
import * as Listing from "../store/Listing.ts"
import { CallList } from "./CallList.ts"
import { ofRow } from "./CallView.ts"

/** Filters of the call list, AND-combined. */
export interface CallFilters {
  readonly status?: string
  readonly direction?: string
  readonly fromNumber?: string
  readonly toNumber?: string
  readonly initiatedAfterMs?: number
}

export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const where = (tenantId: TenantId, filters: CallFilters) =>
    sql.and([
      sql`tenant_id = ${tenantId}`,
      ...(filters.status === undefined ? [] : [sql`status = ${filters.status}`]),
      ...(filters.direction === undefined ? [] : [sql`direction = ${filters.direction}`]),
      ...(filters.fromNumber === undefined ? [] : [sql`from_number = ${filters.fromNumber}`]),
      ...(filters.toNumber === undefined ? [] : [sql`to_number = ${filters.toNumber}`]),
      ...(filters.initiatedAfterMs === undefined
        ? []
        : // The moment itself is left out, and with it whatever is shown as that millisecond.
          [sql`initiated_at >= to_timestamp((${filters.initiatedAfterMs}::float8 + 1) / 1000.0)`])
    ])

  return {
    /** Newest first. */
    list: (tenantId: TenantId, filters: CallFilters, window: Listing.Window) =>
      Effect.orDie(
        Listing.read(sql, {
          columns: sql.literal(CallList.columns),
          from: sql`call`,
          where: where(tenantId, filters),
          order: sql`initiated_at DESC, id DESC`,
          window,
          item: ofRow
        })
      )
  }
})
