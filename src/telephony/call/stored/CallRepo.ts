import { Effect } from "effect"
import type { CallId, TenantId } from "../../../domain/Id.ts"
import * as Sql from "../../../runtime/store/Sql.ts"
import * as ListClient from "../../../runtime/store/list/ListClient.ts"
import * as Listing from "../../../runtime/store/list/Listing.ts"
import * as Portions from "../../../runtime/store/list/Portions.ts"
import { CallList, type CallRow } from "./CallList.ts"
import * as CallFile from "../CallFile.ts"
import { ofRow } from "../CallView.ts"
import * as MachineDetectionList from "../verb/MachineDetectionList.ts"

/** Filters of the call list, AND-combined. */
export interface CallFilters {
  readonly status?: string
  readonly direction?: string
  readonly fromNumber?: string
  readonly toNumber?: string
  readonly customerReference?: string
  readonly endReason?: string
  readonly initiatedAfterMs?: number
  readonly initiatedBeforeMs?: number
}

/** How many rows one read of the whole list looks at. */
const portionRows = 2_000

/** No call lasts longer, so a call that ended in a period was initiated at most this long before it. */
const longestCallMs = 7 * 86_400_000

/** A span of time in epoch milliseconds. `to` is exclusive. */
export interface Ended {
  readonly from: number
  readonly to: number
}

export const make = Effect.gen(function* () {
  const { all, between, equal, first, sql } = yield* Sql.make
  const read = yield* Listing.reader
  const lists = yield* ListClient.reading

  /**
   * An index covers the customer reference, one number of a call, or none of them, and the time. Other filters apply to
   * the rows that it finds.
   */
  const matching = (tenantId: TenantId, filters: CallFilters) => {
    const {
      customerReference,
      direction,
      endReason,
      fromNumber,
      initiatedAfterMs,
      initiatedBeforeMs,
      status,
      toNumber
    } = filters
    const [indexed, ...others] = equal({ customerReference, toNumber, fromNumber })
    return {
      where: sql.and([
        sql`tenant_id = ${tenantId}`,
        ...(indexed === undefined ? [] : [indexed]),
        ...between("initiatedAt", initiatedAfterMs, initiatedBeforeMs)
      ]),
      filters: [...others, ...equal({ status, direction, endReason })]
    }
  }

  const portion = (tenantId: TenantId, filters: CallFilters, after: string | null) => {
    const order = Listing.byTime(lists.sql, "initiated_at", "downwards")
    const { filters: wanted, where } = matching(tenantId, filters)
    const behind = after === null ? null : order.behind(after)
    return lists
      .within(
        tenantId,
        lists.sql<CallRow & { readonly place: string; readonly isWanted: boolean }>`
          SELECT ${sql.literal(CallList.columns)}, ${order.place} AS place,
            ${sql.and([sql`true`, ...wanted])} AS is_wanted
          FROM call WHERE ${where} AND ${behind ?? sql`true`} ORDER BY ${order.by} LIMIT ${portionRows}`
      )
      .pipe(
        Effect.map((rows) => ({
          part: rows.filter(({ isWanted }) => isWanted).map((row) => CallFile.ofRow(row)),
          next: rows.length < portionRows ? null : (rows.at(-1)?.place ?? null)
        })),
        Effect.orDie
      )
  }

  type Owner = { readonly id: TenantId; readonly slug: string }

  /** The calls of one tenant that ended in a period, the newest first. */
  const endedOf = ({ id, slug }: Owner, { from, to }: Ended, after: string | null) => {
    const order = Listing.byTime(lists.sql, "initiated_at", "downwards")
    const { where } = matching(id, { initiatedAfterMs: from - longestCallMs, initiatedBeforeMs: to })
    const behind = after === null ? null : order.behind(after)
    return lists
      .within(
        id,
        lists.sql<CallRow & { readonly place: string }>`
          SELECT ${sql.literal(CallList.columns)}, ${order.place} AS place
          FROM call WHERE ${where} AND ${behind ?? sql`true`} ORDER BY ${order.by} LIMIT ${portionRows}`
      )
      .pipe(
        Effect.map((rows) => ({
          part: rows
            .filter(({ endedAt }) => endedAt !== null && endedAt >= from && endedAt < to)
            .map((row): CallFile.TenantRecord => ({ tenant_id: id, tenant: slug, ...CallFile.ofRow(row) })),
          next: rows.length < portionRows ? null : (rows.at(-1)?.place ?? null)
        })),
        Effect.orDie
      )
  }

  return {
    /**
     * A record of each call of a tenant, or (null) of all, that ended in a period: tenant after tenant, the newest
     * first, in portions that are read on demand. It can be run once.
     */
    ended: Effect.fnUntraced(function* (period: Ended, tenantId: TenantId | null) {
      const owners = yield* all<Owner>`
        SELECT id, slug FROM tenant WHERE ${tenantId === null ? sql`true` : sql`id = ${tenantId}`} ORDER BY slug`
      type Place = { readonly index: number; readonly after: string | null }
      return yield* Portions.stream((place: Place | null) => {
        const { after, index } = place ?? { index: 0, after: null }
        const owner = owners[index]
        if (owner === undefined) return Effect.succeed({ part: [], next: null })
        return Effect.map(endedOf(owner, period, after), ({ next, part }) => {
          const following = index + 1 < owners.length ? { index: index + 1, after: null } : null
          return { part, next: next === null ? following : { index, after: next } }
        })
      })
    }),
    /** Every call that matches the filters, newest first, in portions that are read on demand. It can be run once. */
    whole: (tenantId: TenantId, filters: CallFilters) =>
      Portions.stream((after: string | null) => portion(tenantId, filters, after)),
    /** Null: nothing was detected on the call. */
    machineDetection: (tenantId: TenantId, callId: CallId) =>
      first<MachineDetectionList.DetectedRow>`
        SELECT ${sql.literal(MachineDetectionList.table.columns)} FROM machine_detection
        WHERE id = ${MachineDetectionList.idOf(callId)} AND tenant_id = ${tenantId}`,
    /** Newest first. */
    list: (tenantId: TenantId, filters: CallFilters, window: Listing.Window) =>
      read({
        tenantId,
        columns: sql.literal(CallList.columns),
        from: "call",
        ...matching(tenantId, filters),
        order: Listing.byTime(sql, "initiated_at", "downwards"),
        window,
        item: ofRow
      })
  }
})
