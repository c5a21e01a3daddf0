import { Effect } from "effect"
import type { CallId, LedgerEntryId, TenantId } from "../../domain/Id.ts"
import * as Sql from "../../runtime/store/Sql.ts"
import { UsageSums } from "../usage/Usage.ts"

/** The part of a debit that a plan covers. */
export interface Covered {
  /** The entry that gives it back. */
  readonly id: LedgerEntryId
  readonly debitId: LedgerEntryId
  /** The call whose minutes were debited; null for other work. */
  readonly callId: CallId | null
  readonly cents: number
}

/**
 * Takes covered parts of debits off the usage and off the charges that the margin compares, in the transaction that
 * books them. A charge is counted at the moment of its debit, with the debit's dimensions, and so is its covered part.
 * A debit whose usage is no longer kept has nothing to take off.
 */
export const make = Effect.map(Sql.make, ({ column, done, sql }) => {
  /** The counts of a charge are in its row of the tail, or in the details: in one of both in each snapshot. */
  const takeOffUsage = (tenantId: TenantId, covered: string) => done`
    WITH waiting AS MATERIALIZED (
      SELECT e.id, e.at, e.customer_reference, e.number, e.destination
      FROM usage_tail t CROSS JOIN LATERAL ${sql.literal(UsageSums.entries)} WHERE t.tenant_id = ${tenantId}
    )
    INSERT INTO usage_tail (tenant_id, entries)
    SELECT ${tenantId}::text::uuid, jsonb_agg(jsonb_strip_nulls(jsonb_build_object('id', c.id, 'at', u.at,
      'customer_reference', u.customer_reference, 'number', u.number, 'destination', u.destination,
      'cost_cents', -c.cents)))
    FROM jsonb_to_recordset(${covered}::text::jsonb) AS c(id text, "debitId" text, cents bigint)
    JOIN LATERAL (
      SELECT at, customer_reference, number, destination FROM waiting WHERE id = c."debitId"
      UNION ALL
      SELECT (extract(epoch FROM at) * 1000)::float8, customer_reference, number, destination FROM usage_detail
      WHERE id = c."debitId"
      LIMIT 1
    ) u ON true
    HAVING count(*) > 0`

  /**
   * The charge of a call is in a row of the tail until its legs have rows of their own. The update of the tail waits
   * for the statement that moves such a row, so a call that is not found there has its rows afterwards.
   */
  const takeOffMargin = Effect.fnUntraced(function* (tenantId: TenantId, covered: string) {
    const waiting = yield* column<string>`
      WITH covered AS MATERIALIZED (
        SELECT "callId" AS id, cents FROM jsonb_to_recordset(${covered}::text::jsonb) AS c("callId" text, cents bigint)
        WHERE "callId" IS NOT NULL
      ),
      changed AS (
        UPDATE usage_tail t SET entries = (
          SELECT jsonb_agg(CASE WHEN c.id IS NULL THEN e.entry ELSE jsonb_set(e.entry, '{carried,debited_cents}',
            to_jsonb((e.entry #>> '{carried,debited_cents}')::bigint - c.cents)) END ORDER BY e.place)
          FROM jsonb_array_elements(t.entries) WITH ORDINALITY AS e(entry, place)
            LEFT JOIN covered c ON c.id = e.entry ->> 'id' AND e.entry ? 'carried')
        WHERE t.tenant_id = ${tenantId} AND EXISTS (
          SELECT FROM jsonb_array_elements(t.entries) AS e(entry) JOIN covered c ON c.id = e.entry ->> 'id'
          WHERE e.entry ? 'carried')
        RETURNING t.entries
      )
      SELECT e.entry ->> 'id' AS id FROM changed CROSS JOIN LATERAL jsonb_array_elements(changed.entries) AS e(entry)`
    yield* done`
      UPDATE trunk_leg l SET debited_cents = l.debited_cents - c.cents
      FROM jsonb_to_recordset(${covered}::text::jsonb) AS c("callId" text, cents bigint)
      WHERE l.call_id = c."callId" AND l.call_id <> ALL (${waiting}::text[])`
  })

  return {
    /** Runs inside the transaction of the coverage, after its debits were read. */
    takeOff: Effect.fnUntraced(function* (tenantId: TenantId, covered: ReadonlyArray<Covered>) {
      const json = JSON.stringify(covered)
      yield* takeOffUsage(tenantId, json)
      yield* takeOffMargin(tenantId, json)
    })
  }
})
