import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CallId, TenantId } from "../domain/Id.ts"
import * as Listing from "../store/Listing.ts"
import { CallList } from "./CallList.ts"
import { ofRow } from "./CallView.ts"
import * as MachineDetectionList from "./MachineDetectionList.ts"

/** Filters of the call list, AND-combined. */
export interface CallFilters {
  readonly status?: string
  readonly direction?: string
  readonly fromNumber?: string
  readonly toNumber?: string
  readonly initiatedAfterMs?: number
}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* Listing.reader

  /** An index has one number of a call, or none, with the time; what else is asked for is looked for there. */
  const matching = (tenantId: TenantId, { direction, fromNumber, initiatedAfterMs, status, toNumber }: CallFilters) => {
    const from = fromNumber === undefined ? [] : [sql`from_number = ${fromNumber}`]
    const to = toNumber === undefined ? [] : [sql`to_number = ${toNumber}`]
    return {
      where: sql.and([
        sql`tenant_id = ${tenantId}`,
        ...(to.length === 0 ? from : to),
        ...(initiatedAfterMs === undefined
          ? []
          : // The moment itself is left out, and with it whatever is shown as that millisecond.
            [sql`initiated_at >= to_timestamp((${initiatedAfterMs}::float8 + 1) / 1000.0)`])
      ]),
      filters: [
        ...(to.length === 0 ? [] : from),
        ...(status === undefined ? [] : [sql`status = ${status}`]),
        ...(direction === undefined ? [] : [sql`direction = ${direction}`])
      ]
    }
  }

  return {
    /** Null: nothing was told of the call. */
    machineDetection: (tenantId: TenantId, callId: CallId) =>
      sql<MachineDetectionList.DetectedRow>`
        SELECT ${sql.literal(MachineDetectionList.table.columns)} FROM machine_detection
        WHERE id = ${MachineDetectionList.idOf(callId)} AND tenant_id = ${tenantId}`.pipe(
        Effect.map(([row]) => row ?? null),
        Effect.orDie
      ),
    /** Newest first. */
    list: (tenantId: TenantId, filters: CallFilters, window: Listing.Window) =>
      Effect.orDie(
        read({
          tenantId,
          columns: sql.literal(CallList.columns),
          from: sql`call`,
          ...matching(tenantId, filters),
          order: Listing.byTime(sql, "initiated_at", "downwards"),
          window,
          item: ofRow
        })
      )
  }
})
