import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { TenantId } from "../../domain/Id.ts"
import type { Period } from "./Period.ts"
import type { Dimension } from "./UsageSums.ts"

/** Counts the numbers active at some time of a period, by its index: all of them (null), or those of one value. */
export interface Numbers {
  (period: number, value: string | null): number
  /** The values that occur in the first period. */
  readonly values: ReadonlyArray<string>
}

/** The column of a tenant's number that gives each dimension. */
const columns: Readonly<Record<Dimension, string>> = {
  customer_reference: "customer_reference",
  number: "phone_number",
  destination: "country_code"
}

/** A number is active from its activation to its release. One that the tenant had twice counts once. */
export const read = Effect.fnUntraced(function* (of: {
  readonly sql: SqlClient.SqlClient
  readonly tenantId: TenantId
  readonly periods: ReadonlyArray<Period>
  readonly dimension: Dimension | null
}) {
  const { dimension, periods, sql, tenantId } = of
  const rows = yield* sql<{ readonly period: number; readonly value: string; readonly numbers: number }>`
    SELECT p.period, n.value, count(DISTINCT n.phone_number) AS numbers
    FROM jsonb_to_recordset(${JSON.stringify(periods.map((each, period) => ({ period, ...each })))}::text::jsonb)
        AS p(period int, start float8, "end" float8)
      JOIN (
        SELECT phone_number, activated_at, released_at,
          ${dimension === null ? sql`''` : sql`coalesce(${sql.literal(columns[dimension])}, '')`} AS value
        FROM phone_number WHERE tenant_id = ${tenantId} AND activated_at IS NOT NULL
      ) AS n ON n.activated_at < to_timestamp(p."end" / 1000.0)
        AND (n.released_at IS NULL OR n.released_at > to_timestamp(p.start / 1000.0))
    GROUP BY 1, 2`
  const all = (period: number, value: string | null) =>
    rows.reduce(
      (sum, row) => (row.period === period && (value === null || row.value === value) ? sum + row.numbers : sum),
      0
    )
  const values = rows.filter(({ period }) => period === 0).map(({ value }) => value)
  return Object.assign(all, { values }) satisfies Numbers
})
