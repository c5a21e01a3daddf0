import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Partitions: a tenant names the one in which everything of it lives. What was there before lives in the first, 0.
 *
 * A column with a constant default rewrites no table. Rows get their partition from the commit statement from here on,
 * so the default goes again; a tenant keeps it as its home. The two indexes hold unfinished rows only, but building
 * each reads its table once: no limit of time may end that half way.
 */
export const partition = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SET LOCAL statement_timeout = 0`
  yield* sql`ALTER TABLE tenant ADD COLUMN partition int NOT NULL DEFAULT 0`
  for (const table of ["entity", "journal", "event", "webhook_delivery"]) {
    yield* sql`ALTER TABLE ${sql(table)} ADD COLUMN partition int NOT NULL DEFAULT 0`
    yield* sql`ALTER TABLE ${sql(table)} ALTER COLUMN partition DROP DEFAULT`
  }
  yield* sql`DROP INDEX entity_unsettled`
  yield* sql`CREATE INDEX entity_unsettled ON entity (partition, kind) WHERE NOT settled`
  yield* sql`DROP INDEX webhook_delivery_due`
  yield* sql`
    CREATE INDEX webhook_delivery_due ON webhook_delivery (partition, destination, due_at, ordinal) WHERE due_at IS NOT NULL`
})
