import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { CallList, type CallRow } from "./CallList.ts"

/** Filters of the call list, spec §4.4, AND-combined. */
export interface CallFilters {
  readonly status?: string
  readonly direction?: string
  readonly fromNumber?: string
  readonly toNumber?: string
  readonly initiatedAfterMs?: number
}

export interface Window {
  readonly limit: number
  readonly offset: number
}

export const make = (sql: SqlClient.SqlClient) => {
  const where = (tenantId: string, filters: CallFilters) =>
    sql.and([
      sql`tenant_id = ${tenantId}`,
      ...(filters.status === undefined ? [] : [sql`status = ${filters.status}`]),
      ...(filters.direction === undefined ? [] : [sql`direction = ${filters.direction}`]),
      ...(filters.fromNumber === undefined ? [] : [sql`from_number = ${filters.fromNumber}`]),
      ...(filters.toNumber === undefined ? [] : [sql`to_number = ${filters.toNumber}`]),
      ...(filters.initiatedAfterMs === undefined
        ? []
        : [sql`initiated_at > to_timestamp(${filters.initiatedAfterMs}::float8 / 1000.0)`])
    ])

  const list = Effect.fn("CallRepo.list")(function* (tenantId: string, filters: CallFilters, window: Window) {
    const [counted] = yield* Effect.orDie(
      sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM call WHERE ${where(tenantId, filters)}`
    )
    const rows = yield* Effect.orDie(sql<CallRow>`
      SELECT ${sql.literal(CallList.columns)}
      FROM call WHERE ${where(tenantId, filters)}
      ORDER BY initiated_at DESC, id DESC LIMIT ${window.limit} OFFSET ${window.offset}`)
    return { count: counted?.count ?? 0, rows }
  })

  return { list }
}
