import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Work that is due by a row (`runtime/job/Jobs.ts`). Orders that the version before left pending get theirs.
 *
 * `due_at` is when a row may be claimed (a claim moves it behind its lease); null: it has failed for good and is kept.
 * `tenant_id` is the nil UUID for the service's own work. `leased_by` is the epoch that claimed it; null: nobody has.
 */
export const job = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE job (
      kind text NOT NULL, key text NOT NULL, partition int NOT NULL, tenant_id uuid NOT NULL, due_at timestamptz,
      attempt int NOT NULL DEFAULT 0, leased_by bigint, last_error text, failed_at timestamptz,
      created_at timestamptz NOT NULL, PRIMARY KEY (kind, key)
    ) WITH (fillfactor = 80)`
  yield* sql`CREATE INDEX job_due ON job (partition, kind, due_at) WHERE due_at IS NOT NULL`
  yield* sql`CREATE INDEX job_turn ON job (partition, kind, tenant_id, due_at) WHERE due_at IS NOT NULL`
  yield* sql`CREATE INDEX job_failed ON job (failed_at) WHERE failed_at IS NOT NULL`
  yield* sql`
    INSERT INTO job (kind, key, partition, tenant_id, due_at, created_at)
    SELECT 'number_order.activation', o.id, t.partition, o.tenant_id, now(), now()
    FROM number_order o JOIN tenant t ON t.id = o.tenant_id WHERE o.status = 'pending'`
})
