import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What machine detection found out, one row a call. The index is retention's. */
export const machineDetection = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE machine_detection (
      id text PRIMARY KEY, tenant_id uuid NOT NULL, call_id text NOT NULL, leg_id text NOT NULL, verdict text NOT NULL,
      detected_at timestamptz NOT NULL, beep_detected_at timestamptz
    )`
  yield* sql`CREATE INDEX machine_detection_age ON machine_detection (detected_at)`
})
