import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Recordings whose outcome is known. `restored_at`: when the operator brought one back from the archive; it is archived
 * again as much later. The last two indexes find what is to be archived and what is to expire.
 */
export const recording = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE recording (
      id text PRIMARY KEY, tenant_id uuid NOT NULL, call_id text NOT NULL, conference_id text, channels text NOT NULL,
      format text NOT NULL, status text NOT NULL, duration_seconds int NOT NULL, size_bytes bigint NOT NULL,
      created_at timestamptz NOT NULL, restored_at timestamptz
    )`
  yield* sql`CREATE INDEX recording_tenant ON recording (tenant_id, created_at DESC, id DESC)`
  yield* sql`CREATE INDEX recording_call ON recording (call_id, created_at DESC, id DESC)`
  yield* sql`CREATE INDEX recording_young ON recording (coalesce(restored_at, created_at)) WHERE status = 'available'`
  yield* sql`CREATE INDEX recording_kept ON recording (created_at) WHERE status IN ('available', 'archived')`
})
