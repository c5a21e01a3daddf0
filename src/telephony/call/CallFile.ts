import type * as Csv from "../../domain/schema/Csv.ts"
import * as CallView from "./CallView.ts"
import type { CallRow } from "./stored/CallList.ts"

/** The columns of a file of calls, guide/money.md#files-of-calls. */
export const columns = [
  "id",
  "direction",
  "status",
  "from",
  "to",
  "route_id",
  "initiated_at",
  "answered_at",
  "ended_at",
  "duration_seconds",
  "end_reason",
  "end_initiator",
  "customer_reference",
  "cost_cents",
  "rating_status",
  "destination",
  "rate_micro_usd_per_minute",
  "increments",
  "billed_seconds"
] as const

/** A record of the file. */
export type Record = Readonly<globalThis.Record<(typeof columns)[number], Csv.Cell>>

/** A record in a file over all tenants, with its tenant by id and by slug. */
export type TenantRecord = Record & { readonly tenant_id: string; readonly tenant: string }

export const ofRow = (row: CallRow): Record => ({
  ...CallView.ofRow(row),
  destination: row.destination,
  rate_micro_usd_per_minute: row.microUsdPerMinute,
  increments: row.increments,
  billed_seconds: row.billedSeconds
})
