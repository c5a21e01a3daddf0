import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The hosts of active SIP trunks, each under the version of its last change, so that whoever knows them by heart learns
 * cheaply what changed since: rows behind `(version, host)`. A host without trunks stays as a row that says so.
 *
 * Triggers keep it, so nothing that changes a route can forget it. The row of `trunk_version` is locked until the
 * change commits: versions become visible in their order. `peer_table` numbers the processes that push the table.
 */
export const trunkHost = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SET LOCAL statement_timeout = 0`
  yield* sql`CREATE SEQUENCE peer_table`
  yield* sql`CREATE TABLE trunk_version (id int PRIMARY KEY CHECK (id = 1), version bigint NOT NULL)`
  yield* sql`INSERT INTO trunk_version (id, version) VALUES (1, 1)`
  yield* sql`CREATE TABLE trunk_host (host text PRIMARY KEY, version bigint NOT NULL, is_active boolean NOT NULL)`
  yield* sql`
    INSERT INTO trunk_host (host, version, is_active)
    SELECT DISTINCT host, 1, true FROM route WHERE adapter = 'sip' AND status = 'active' AND host IS NOT NULL`
  yield* sql`CREATE INDEX trunk_host_version ON trunk_host (version, host)`
  yield* sql.unsafe(`
    CREATE FUNCTION trunk_host_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE next bigint;
    BEGIN
      IF NOT EXISTS (SELECT FROM changed WHERE adapter = 'sip' AND host IS NOT NULL) THEN RETURN NULL; END IF;
      UPDATE trunk_version SET version = version + 1 RETURNING version INTO next;
      INSERT INTO trunk_host (host, version, is_active)
      SELECT c.host, next, EXISTS
        (SELECT FROM route r WHERE r.host = c.host AND r.adapter = 'sip' AND r.status = 'active')
      FROM (SELECT DISTINCT host FROM changed WHERE adapter = 'sip' AND host IS NOT NULL) c
      ON CONFLICT (host) DO UPDATE SET version = excluded.version, is_active = excluded.is_active;
      RETURN NULL;
    END $$`)
  for (const [name, change] of [
    ["inserted", "INSERT ON route REFERENCING NEW"],
    ["updated_from", "UPDATE ON route REFERENCING OLD"],
    ["updated_to", "UPDATE ON route REFERENCING NEW"],
    ["deleted", "DELETE ON route REFERENCING OLD"]
  ] as const)
    yield* sql.unsafe(`
      CREATE TRIGGER trunk_host_${name} AFTER ${change} TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION trunk_host_changed()`)
})
