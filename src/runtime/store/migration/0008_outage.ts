import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * `transaction_witness`: the last transaction that each session of the service has committed, by a token, so that the
 * outcome of a COMMIT whose answer was lost can be read. `write_probe`: what is written to see that writing works.
 *
 * The index finds what lives of a tenant when its account is read.
 */
export const outage = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SET LOCAL statement_timeout = 0`
  yield* sql`
    CREATE TABLE transaction_witness (backend text PRIMARY KEY, token text NOT NULL, at timestamptz NOT NULL)
    WITH (fillfactor = 50)`
  yield* sql`CREATE TABLE write_probe (filler text NOT NULL)`
  yield* sql`ALTER TABLE write_probe ALTER COLUMN filler SET STORAGE PLAIN`
  yield* sql`CREATE INDEX entity_tenant_unsettled ON entity (tenant_id) WHERE NOT settled`
})
