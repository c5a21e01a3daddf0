import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The outbox of letters, keyed by what each is about; `content` is sealed, and null when the letter is done with. And
 * whether a member may act, and is written to.
 */
export const letter = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE letter (
      cause text PRIMARY KEY, tenant_id uuid, to_name text NOT NULL, to_address text NOT NULL, content text,
      status text NOT NULL, detail text, until timestamptz, created_at timestamptz NOT NULL, ended_at timestamptz
    )`
  yield* sql`ALTER TABLE member ADD COLUMN status text NOT NULL DEFAULT 'active'`
})
