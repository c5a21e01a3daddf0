import { Context, Effect, Layer, Struct } from "effect"
import type { AuditId, TenantId } from "../../domain/Id.ts"
import * as Sql from "../store/Sql.ts"
import type { AuditRow } from "../store/journal/Journal.ts"
import * as Listing from "../store/list/Listing.ts"
import { type AuditLineView, view } from "./AuditView.ts"

/** A line matches when all given filters hold. The moments of creation themselves are excluded. */
interface Filters {
  readonly action?: string
  readonly resourceType?: string
  readonly resourceId?: string
  readonly actorType?: string
  readonly actorId?: string
  readonly createdAfterMs?: number
  readonly createdBeforeMs?: number
}

/** A line as it is read; `occurredAt` in epoch milliseconds. */
interface Line {
  readonly id: AuditId
  readonly occurredAt: number
  readonly actorType: AuditRow["actor"]["type"]
  readonly actorId: string | null
  readonly actorName: string | null
  readonly action: string
  readonly resourceType: string
  readonly resourceId: string
  readonly changes: AuditRow["changes"]
  readonly ip: string | null
}

interface Page {
  readonly results: ReadonlyArray<Line>
  /** The end of this page, if more lines may follow it; null: there are none. */
  readonly next: string | null
}

/**
 * Reads the audit log, guide/tenants.md#audit, the newest lines first. One answer looks at most at `Listing.looked`
 * lines; a filter that matches few of them continues with the next page. The lines of one resource have a separate
 * index.
 */
export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** Gives the lines of a tenant, in its turn among the tenants that read lists. */
    readonly ofTenant: (
      tenantId: TenantId,
      filters: Filters,
      window: Listing.Window
    ) => Effect.Effect<Listing.Page<AuditLineView>>
    /**
     * For the operator: gives the lines of a tenant, or (null) those of no tenant, which record changes for all
     * tenants. `after`: the `next` of the page before. Null: `after` is not such a text.
     */
    readonly list: (
      tenantId: TenantId | null,
      filters: Filters,
      window: { readonly limit: number; readonly after?: string }
    ) => Effect.Effect<Page | null>
  }
>()("trunkline/audit/AuditLog") {
  static readonly layer = Layer.effect(
    AuditLog,
    Effect.gen(function* () {
      const { all, between, equal, sql } = yield* Sql.make
      const readList = yield* Listing.reader
      const order = Listing.byOrdinal(sql)
      const columns = sql`id, occurred_at, actor_type, actor_id, actor_name, action, resource_type, resource_id,
        changes, ip`

      const conditions = (tenantId: TenantId | null, filters: Filters) => {
        const { action, actorId, actorType, createdAfterMs, createdBeforeMs, resourceId, resourceType } = filters
        return {
          where: sql.and([
            tenantId === null ? sql`tenant_id IS NULL` : sql`tenant_id = ${tenantId}`,
            ...equal({ resourceId })
          ]),
          filters: [
            ...equal({ action, resourceType, actorType, actorId }),
            ...between("occurredAt", createdAfterMs, createdBeforeMs)
          ]
        }
      }

      return AuditLog.of({
        ofTenant: (tenantId, filters, window) =>
          readList({
            tenantId,
            columns,
            from: "audit",
            ...conditions(tenantId, filters),
            order,
            window,
            item: ({ actorId, actorName, actorType, ...line }: Line) =>
              view({ ...line, actor: { type: actorType, id: actorId, name: actorName } })
          }),
        list: Effect.fn("AuditLog.list")(function* (
          tenantId: TenantId | null,
          asked: Filters,
          window: { readonly limit: number; readonly after?: string }
        ): Effect.fn.Return<Page | null> {
          const behind = window.after === undefined ? sql`true` : order.behind(window.after)
          if (behind === null) return null
          const { filters, where } = conditions(tenantId, asked)
          const rows = yield* all<Line & { readonly place: string; readonly end: string | null }>`
            WITH looked AS MATERIALIZED (
              SELECT * FROM audit WHERE ${where} AND ${behind} ORDER BY ordinal DESC LIMIT ${Listing.looked}
            ), found AS (
              SELECT * FROM looked WHERE ${sql.and([sql`true`, ...filters])} ORDER BY ordinal DESC LIMIT ${window.limit}
            )
            SELECT f.*, total.end FROM (
              SELECT CASE WHEN count(*) = ${Listing.looked} THEN min(ordinal)::text END AS end FROM looked
            ) AS total LEFT JOIN (SELECT ${columns}, ordinal::text AS place, ordinal FROM found) f ON true
            ORDER BY f.ordinal DESC`
          // oxlint-disable-next-line typescript/no-unnecessary-condition -- the row of the totals has no id where nothing is found
          const results = rows.filter(({ id }) => id !== null)
          const last = results.length === window.limit ? results.at(-1)?.place : undefined
          return {
            results: results.map((row) => Struct.omit(row, ["end", "place"])),
            next: last ?? rows[0]?.end ?? null
          }
        })
      })
    })
  )
}
