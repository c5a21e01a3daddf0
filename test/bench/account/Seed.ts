import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { TenantId } from "../../../src/domain/Id.ts"
import * as Service from "../load/Service.ts"

/** The number of calls in one statement. */
const portion = 50_000

export interface Seeded {
  readonly tenants: ReadonlyArray<Service.Tenant>
  readonly calls: number
  /** When the first call began, and the moment after the last one, in epoch milliseconds. */
  readonly from: number
  readonly until: number
}

/**
 * The database of a service that has run for a while: ended calls of many tenants, evenly over `days` before now, with
 * their entries in the ledger, which adds up. Calls take turns by tenant, most are outbound, one in five was not
 * answered, and each answered one costs 1 to 3 cents. Entities, events and rows of usage are missing.
 */
export const calls = Effect.fn("Seed.calls")(function* (options: {
  readonly calls: number
  readonly tenants: number
  readonly days: number
}) {
  const sql = yield* SqlClient.SqlClient
  const tenants = yield* Effect.forEach(Array.from({ length: options.tenants }), (_, index) =>
    Service.openTenant(index)
  )
  const until = Date.now()
  const from = until - options.days * 86_400_000
  const stepMs = (until - from) / options.calls
  const ids: ReadonlyArray<TenantId> = tenants.map(({ id }) => id)
  yield* sql`CREATE TEMPORARY TABLE seeded_tenant ON COMMIT PRESERVE ROWS AS
    SELECT id::uuid AS id, place - 1 AS place FROM unnest(${ids}::text[]) WITH ORDINALITY AS t(id, place)`.pipe(
    Effect.andThen(
      Effect.forEach(
        Array.from({ length: Math.ceil(options.calls / portion) }, (_, index) => index * portion),
        (start) =>
          sql`
          WITH made AS MATERIALIZED (
            SELECT n, turn, t.id AS tenant_id, 'svc_call_' || lpad(to_hex(n), 32, '0') AS id, turn % 5 <> 0 AS is_answered,
              to_timestamp((${from}::float8 + n * ${stepMs}::float8) / 1000) AS began, 10 + n % 290 AS seconds,
              CASE WHEN turn % 5 <> 0 THEN 1 + turn % 3 ELSE 0 END AS cents
            FROM (SELECT n, n / ${options.tenants}::int AS turn FROM generate_series(${start}::int, ${Math.min(start + portion, options.calls) - 1}::int) n) series
            JOIN seeded_tenant t ON t.place = n % ${options.tenants}::int
          ), calls AS (
            INSERT INTO call (id, tenant_id, direction, status, from_number, to_number, route_id, initiated_at, answered_at, ended_at,
              duration_seconds, end_reason, end_initiator, customer_reference, cost_cents, rating_status)
            SELECT id, tenant_id, CASE WHEN turn % 4 = 0 THEN 'inbound' ELSE 'outbound' END,
              CASE WHEN is_answered THEN 'ended' ELSE 'no_answer' END, '+12025550150', '+1202555' || lpad((n % 1000)::text, 4, '0'),
              'svc_route_' || lpad('', 32, '0'), began, CASE WHEN is_answered THEN began + interval '5 seconds' END,
              began + (5 + seconds) * interval '1 second', CASE WHEN is_answered THEN seconds ELSE 0 END,
              CASE WHEN is_answered THEN 'hangup' ELSE 'no_answer' END, 'far_end',
              CASE WHEN turn % 10 = 0 THEN 'campaign ' || turn % 70 END, cents, 'rated'
            FROM made
          )
          INSERT INTO ledger (id, tenant_id, cause, type, amount_cents, balance_after_cents, description, reference_type, reference_id,
            created_at)
          SELECT 'svc_ledger_' || lpad(to_hex(n), 32, '0'), m.tenant_id, 'call:' || m.id, 'call_charge', -cents,
            b.balance_cents - sum(cents) OVER (PARTITION BY m.tenant_id ORDER BY n), 'Call to +12025550100', 'call', m.id,
            began + (5 + seconds) * interval '1 second'
          FROM made m JOIN balance b ON b.tenant_id = m.tenant_id WHERE cents > 0 ORDER BY n`.pipe(
            Effect.andThen(sql`
              UPDATE balance b SET balance_cents = coalesce(
                (SELECT balance_after_cents FROM ledger WHERE tenant_id = b.tenant_id ORDER BY ordinal DESC LIMIT 1), 0)`),
            sql.withTransaction
          ),
        { discard: true }
      )
    ),
    sql.withTransaction
  )
  yield* sql`ANALYZE call`
  yield* sql`ANALYZE ledger`
  return { tenants, calls: options.calls, from, until } satisfies Seeded
})
