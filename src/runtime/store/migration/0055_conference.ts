import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Conferences and their participants, as lists show them. A name is unique among the conferences of a tenant that are not
 * completed.
 */
export const conference = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE conference (
      id text PRIMARY KEY, tenant_id uuid NOT NULL, name text NOT NULL, status text NOT NULL, host_call_id text,
      beep_enabled text NOT NULL, start_on_create int NOT NULL, end_on_exit int NOT NULL, max_participants int NOT NULL,
      duration_minutes int NOT NULL, created_at timestamptz NOT NULL, started_at timestamptz, ended_at timestamptz
    )`
  yield* sql`CREATE INDEX conference_tenant ON conference (tenant_id, created_at DESC, id DESC)`
  yield* sql`CREATE UNIQUE INDEX conference_name ON conference (tenant_id, name) WHERE status <> 'completed'`
  yield* sql`
    CREATE TABLE conference_participant (
      id text PRIMARY KEY, tenant_id uuid NOT NULL, conference_id text NOT NULL, call_id text NOT NULL, leg_id text,
      role text NOT NULL, created_at timestamptz NOT NULL, joined_at timestamptz, left_at timestamptz,
      is_muted int NOT NULL, is_on_hold int NOT NULL
    )`
  yield* sql`CREATE INDEX conference_participant_place ON conference_participant (conference_id, created_at, id)`
})
