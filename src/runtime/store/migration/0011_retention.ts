import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What retention needs (`runtime/retention/Retention.ts`), as far as it is done in an instant, however big the tables are. The
 * indexes by age are built later, beside the traffic (`runtime/retention/Retained.ts`).
 *
 * `retention` says up to which moment the rows of each kind may be gone. `call_key` holds the key of a call under which
 * secrets in its inputs and states are sealed, itself sealed by the vault; without its row they cannot be read any more.
 *
 * A row of `webhook_redelivery` is a range of deliveries that are made again, as far as `position` in their order.
 *
 * Tables from whose old end thousands of rows go every
 * few minutes are vacuumed before a fifth of them is dead.
 */
export const retention = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE retention (name text PRIMARY KEY, pruned_until timestamptz NOT NULL)`
  yield* sql`CREATE TABLE call_key (id text PRIMARY KEY, tenant_id uuid NOT NULL, key text NOT NULL)`
  yield* sql`
    CREATE TABLE webhook_redelivery (
      subscription_id text PRIMARY KEY, tenant_id uuid NOT NULL, status text NOT NULL, created_after timestamptz NOT NULL,
      created_before timestamptz NOT NULL, position bigint NOT NULL DEFAULT 0, portions int NOT NULL DEFAULT 0
    )`
  for (const table of ["webhook_delivery", "event", "journal", "audit", "idempotency"])
    yield* sql`ALTER TABLE ${sql(table)} SET (autovacuum_vacuum_scale_factor = 0.05)`
  // The job that did this for receipts alone.
  yield* sql`DELETE FROM job WHERE kind = 'idempotency.sweep'`
})
