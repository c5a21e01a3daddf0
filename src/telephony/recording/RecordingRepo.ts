import { Effect } from "effect"
import type { CallId, RecordingId, TenantId } from "../../domain/Id.ts"
import * as Listing from "../../runtime/store/list/Listing.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { RecordingList, type RecordingRow, type Status } from "./RecordingList.ts"

/** More than a call can have, because `telephony/call/machine/Meter.ts` limits its paid work. */
const mostOfCall = 200

/** Rows of `recording`. Failed statements die. */
export const make = Effect.gen(function* () {
  const { all, first, sql } = yield* Sql.make
  const read = yield* Listing.reader
  const columns = sql.literal(RecordingList.columns)
  const ago = (ms: number) => sql`now() - ${ms}::float8 * interval '1 millisecond'`

  return {
    /** Newest first. */
    list: <Item>(
      tenantId: TenantId,
      { callId }: { readonly callId?: CallId },
      window: Listing.Window,
      item: (row: RecordingRow) => Item
    ) =>
      read({
        tenantId,
        columns,
        from: "recording",
        where:
          callId === undefined ? sql`tenant_id = ${tenantId}` : sql`call_id = ${callId} AND tenant_id = ${tenantId}`,
        order: Listing.byTime(sql, "created_at", "downwards"),
        window,
        item
      }),
    /** `tenantId` null: the recording may belong to any tenant. */
    find: (tenantId: TenantId | null, id: RecordingId) =>
      first<RecordingRow>`SELECT ${columns} FROM recording
        WHERE id = ${id} AND ${tenantId === null ? sql`true` : sql`tenant_id = ${tenantId}`}`,
    /** Oldest first. */
    ofCall: (tenantId: TenantId, callId: CallId) =>
      all<RecordingRow>`SELECT ${columns} FROM recording
        WHERE call_id = ${callId} AND tenant_id = ${tenantId} ORDER BY created_at, id LIMIT ${mostOfCall}`,
    remove: (tenantId: TenantId, id: RecordingId) =>
      first<RecordingRow>`DELETE FROM recording WHERE id = ${id} AND tenant_id = ${tenantId} RETURNING ${columns}`,
    /** The tenant and the status before; null when the recording is gone, or no longer `from`. */
    change: (id: RecordingId, from: ReadonlyArray<Status>, to: Status) =>
      first<{ readonly tenantId: TenantId; readonly status: Status }>`
        UPDATE recording r SET status = ${to} ${to === "available" ? sql`, restored_at = now()` : sql``}
        FROM (SELECT id, status FROM recording WHERE id = ${id} FOR UPDATE) AS before
        WHERE r.id = before.id AND before.status IN ${sql.in(from)}
        RETURNING r.tenant_id, before.status`,
    /** Recordings that have a file, newest first; `after`: only those after this place in the list. */
    toErase: (tenantId: TenantId, after: { readonly at: string; readonly id: RecordingId } | null, limit: number) =>
      all<RecordingRow & { readonly at: string }>`SELECT ${columns}, created_at::text AS at FROM recording
        WHERE tenant_id = ${tenantId} AND status IN ('available', 'archived') ${
          after === null ? sql`` : sql`AND (created_at, id) < (${after.at}::text::timestamptz, ${after.id}::text)`
        } ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
    /** Returns how many of them had a file. */
    expire: (ids: ReadonlyArray<RecordingId>) =>
      Effect.map(
        all`UPDATE recording SET status = 'expired'
          WHERE id = ANY(${ids}::text[]) AND status IN ('available', 'archived') RETURNING 1`,
        (rows) => rows.length
      ),
    /** Recordings that have been available for this long, oldest first. */
    toArchive: (afterMs: number, limit: number) =>
      all<RecordingRow>`SELECT ${columns} FROM recording
        WHERE status = 'available' AND coalesce(restored_at, created_at) < ${ago(afterMs)}
        ORDER BY coalesce(restored_at, created_at) LIMIT ${limit}`,
    toExpire: (afterMs: number, limit: number) =>
      all<RecordingRow>`SELECT ${columns} FROM recording
        WHERE status IN ('available', 'archived') AND created_at < ${ago(afterMs)} ORDER BY created_at LIMIT ${limit}`
  } as const
})
