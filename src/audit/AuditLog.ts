import { Effect, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { TenantId } from "../domain/Id.ts"
import type { Json } from "../store/Journal.ts"
import * as Listing from "../store/Listing.ts"

/** All that are given must hold; the moments themselves are left out. */
export interface Filters {
  readonly action?: string
  readonly resourceType?: string
  readonly resourceId?: string
  readonly actorType?: string
  readonly createdAfterMs?: number
  readonly createdBeforeMs?: number
}

/** A line as it is read; `occurredAt` in epoch milliseconds. */
export interface Line {
  readonly id: string
  readonly occurredAt: number
  readonly actorType: string
  readonly actorId: string | null
  readonly actorName: string | null
  readonly action: string
  readonly resourceType: string
  readonly resourceId: string
  readonly changes: Json
  readonly ip: string | null
}

export interface Page {
  readonly results: ReadonlyArray<Line>
  /** Where the page ends, if there may be more behind it; null: there is none. */
  readonly next: string | null
}

/**
 * Reads the audit log, guide/tenants.md#audit: the lines of a tenant, or those of none (null), which tell what the
 * operator changed for all. The newest come first. One answer looks at `Listing.looked` lines at most; a filter that
 * finds little in them goes on behind them with the next page.
 */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const order = Listing.byOrdinal(sql)
  const conditions = (filters: Filters) => [
    sql`true`,
    ...(filters.action === undefined ? [] : [sql`action = ${filters.action}`]),
    ...(filters.resourceType === undefined ? [] : [sql`resource_type = ${filters.resourceType}`]),
    ...(filters.resourceId === undefined ? [] : [sql`resource_id = ${filters.resourceId}`]),
    ...(filters.actorType === undefined ? [] : [sql`actor_type = ${filters.actorType}`]),
    ...(filters.createdAfterMs === undefined
      ? []
      : [sql`occurred_at >= to_timestamp((${filters.createdAfterMs}::float8 + 1) / 1000)`]),
    ...(filters.createdBeforeMs === undefined
      ? []
      : [sql`occurred_at < to_timestamp(${filters.createdBeforeMs}::float8 / 1000)`])
  ]

  return {
    /** `after`: the `next` of the page before. Null: the text is none. */
    list: Effect.fn("AuditLog.list")(function* (
      tenantId: TenantId | null,
      filters: Filters,
      window: { readonly limit: number; readonly after?: string }
    ): Effect.fn.Return<Page | null> {
      const behind = window.after === undefined ? sql`true` : order.behind(window.after)
      if (behind === null) return null
      const of = tenantId === null ? sql`tenant_id IS NULL` : sql`tenant_id = ${tenantId}`
      const rows = yield* Effect.orDie(sql<Line & { readonly place: string; readonly end: string | null }>`
        WITH looked AS MATERIALIZED (
          SELECT * FROM audit WHERE ${of} AND ${behind} ORDER BY ordinal DESC LIMIT ${Listing.looked}
        ), found AS (
          SELECT * FROM looked WHERE ${sql.and(conditions(filters))} ORDER BY ordinal DESC LIMIT ${window.limit}
        )
        SELECT f.id::text AS id, (extract(epoch FROM f.occurred_at) * 1000)::float8 AS "occurredAt",
          f.actor_type AS "actorType", f.actor_id AS "actorId", f.actor_name AS "actorName", f.action,
          f.resource_type AS "resourceType", f.resource_id AS "resourceId", f.changes, f.ip, f.ordinal::text AS place, total.end
        FROM (
          SELECT CASE WHEN count(*) = ${Listing.looked} THEN min(ordinal)::text END AS end FROM looked
        ) AS total LEFT JOIN found f ON true ORDER BY f.ordinal DESC`)
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- the row of the totals has no id where nothing is found
      const results = rows.filter(({ id }) => id !== null)
      const last = results.length === window.limit ? results.at(-1)?.place : undefined
      return { results: results.map((row) => Struct.omit(row, ["end", "place"])), next: last ?? rows[0]?.end ?? null }
    })
  } as const
})
