import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Limits of a trunk (null: none), whether it is asked by OPTIONS, and what a call gets while it does not answer them;
 * and the networks that the operator banned from SIP. `ban_version` counts the changes of that list, so that whoever
 * knows it by heart reads it only when it changed.
 */
export const trunkLimit = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    ALTER TABLE route
      ADD COLUMN max_calls int,
      ADD COLUMN outbound_cps int,
      ADD COLUMN inbound_cps int,
      ADD COLUMN is_qualified boolean NOT NULL DEFAULT true,
      ADD COLUMN refuses_unreachable boolean NOT NULL DEFAULT false`
  yield* sql`CREATE INDEX route_sip ON route (id) WHERE adapter = 'sip' AND status = 'active'`
  yield* sql`CREATE INDEX phone_number_route ON phone_number (route_id) WHERE route_id IS NOT NULL`
  yield* sql`
    CREATE TABLE ban (
      network text PRIMARY KEY, reason text NOT NULL, created_at timestamptz NOT NULL, expires_at timestamptz
    )`
  yield* sql`CREATE TABLE ban_version (id int PRIMARY KEY CHECK (id = 1), version bigint NOT NULL)`
  yield* sql`INSERT INTO ban_version (id, version) VALUES (1, 1)`
  yield* sql.unsafe(`
    CREATE FUNCTION ban_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE ban_version SET version = version + 1;
      RETURN NULL;
    END $$`)
  yield* sql`
    CREATE TRIGGER ban_changed AFTER INSERT OR UPDATE OR DELETE ON ban
    FOR EACH STATEMENT EXECUTE FUNCTION ban_changed()`
})
