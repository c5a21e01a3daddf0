import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Sessions of transcription and their phrases. `confidence`: in ten thousandths; `words`: JSON.
 */
export const transcription = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE transcription (
      id text PRIMARY KEY, tenant_id uuid NOT NULL, call_id text NOT NULL, leg_id text NOT NULL, status text NOT NULL,
      engine text NOT NULL, language text NOT NULL, tracks text NOT NULL, started_at timestamptz NOT NULL,
      ended_at timestamptz, duration_seconds int NOT NULL, cost_cents int
    )`
  yield* sql`CREATE INDEX transcription_call ON transcription (call_id, started_at DESC)`
  yield* sql`
    CREATE TABLE transcript_segment (
      id text PRIMARY KEY, transcription_id text NOT NULL, sequence int NOT NULL, transcript text NOT NULL,
      confidence int, track text NOT NULL, started_at timestamptz NOT NULL, ended_at timestamptz NOT NULL,
      words text NOT NULL
    )`
  yield* sql`CREATE INDEX transcript_segment_session ON transcript_segment (transcription_id, sequence)`
})
