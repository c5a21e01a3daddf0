import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CallId, RecordingId, TenantId } from "../../domain/Id.ts"
import * as Listing from "../../runtime/store/list/Listing.ts"
import { RecordingList, type RecordingRow, type Status } from "./RecordingList.ts"

/** More than a call can have, because `telephony/call/machine/Meter.ts` limits its paid work. */
const mostOfCall = 200

/** Rows of `recording`. Failed statements die. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* Listing.reader
  const columns = sql.literal(RecordingList.columns)
  const first = (rows: ReadonlyArray<RecordingRow>): RecordingRow | null => rows[0] ?? null
  const ago = (ms: number) => sql`now() - ${ms}::float8 * interval '1 millisecond'`

  return {
    /** Newest first. */
    list: <Item>(
      tenantId: TenantId,
      { callId }: { readonly callId?: CallId },
      window: Listing.Window,
      item: (row: RecordingRow) => Item
    ) =>
      Effect.orDie(
        read({
          tenantId,
          columns,
          from: sql`recording`,
          where:
            callId === undefined ? sql`tenant_id = ${tenantId}` : sql`call_id = ${callId} AND tenant_id = ${tenantId}`,
          order: Listing.byTime(sql, "created_at", "downwards"),
          window,
          item
        })
      ),
    /** `tenantId` null: the recording may belong to any tenant. */
    find: (tenantId: TenantId | null, id: RecordingId) =>
      Effect.map(
        Effect.orDie(
          sql<RecordingRow>`SELECT ${columns} FROM recording
            WHERE id = ${id} AND ${tenantId === null ? sql`true` : sql`tenant_id = ${tenantId}`}`
        ),
        first
      ),
    /** Oldest first. */
    ofCall: (tenantId: TenantId, callId: CallId) =>
      Effect.orDie(
        sql<RecordingRow>`SELECT ${columns} FROM recording
          WHERE call_id = ${callId} AND tenant_id = ${tenantId} ORDER BY created_at, id LIMIT ${mostOfCall}`
      ),
    remove: (tenantId: TenantId, id: RecordingId) =>
      Effect.map(
        Effect.orDie(
          sql<RecordingRow>`DELETE FROM recording WHERE id = ${id} AND tenant_id = ${tenantId} RETURNING ${columns}`
        ),
        first
      ),
    /** The tenant and the status before; null when the recording is gone, or no longer `from`. */
    change: (id: RecordingId, from: ReadonlyArray<Status>, to: Status) =>
      Effect.map(
        Effect.orDie(
          sql<{ readonly tenantId: TenantId; readonly status: Status }>`
            UPDATE recording r SET status = ${to} ${to === "available" ? sql`, restored_at = now()` : sql``}
            FROM (SELECT id, status FROM recording WHERE id = ${id} FOR UPDATE) AS before
            WHERE r.id = before.id AND before.status IN ${sql.in(from)}
            RETURNING r.tenant_id, before.status`
        ),
        (rows) => rows[0] ?? null
      ),
    /** Recordings that have a file, newest first; `after`: only those after this place in the list. */
    toErase: (tenantId: TenantId, after: { readonly at: string; readonly id: RecordingId } | null, limit: number) =>
      Effect.orDie(
        sql<RecordingRow & { readonly at: string }>`SELECT ${columns}, created_at::text AS at FROM recording
          WHERE tenant_id = ${tenantId} AND status IN ('available', 'archived') ${
            after === null ? sql`` : sql`AND (created_at, id) < (${after.at}::text::timestamptz, ${after.id}::text)`
          } ORDER BY created_at DESC, id DESC LIMIT ${limit}`
      ),
    /** Returns how many of them had a file. */
    expire: (ids: ReadonlyArray<RecordingId>) =>
      Effect.map(
        Effect.orDie(
          sql`UPDATE recording SET status = 'expired'
            WHERE id = ANY(${ids}::text[]) AND status IN ('available', 'archived') RETURNING 1`
        ),
        (rows) => rows.length
      ),
    /** Recordings that have been available for this long, oldest first. */
    toArchive: (afterMs: number, limit: number) =>
      Effect.orDie(
        sql<RecordingRow>`SELECT ${columns} FROM recording
          WHERE status = 'available' AND coalesce(restored_at, created_at) < ${ago(afterMs)}
          ORDER BY coalesce(restored_at, created_at) LIMIT ${limit}`
      ),
    toExpire: (afterMs: number, limit: number) =>
      Effect.orDie(
        sql<RecordingRow>`SELECT ${columns} FROM recording
          WHERE status IN ('available', 'archived') AND created_at < ${ago(afterMs)} ORDER BY created_at LIMIT ${limit}`
      )
  } as const
})
