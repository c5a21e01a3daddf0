import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * How far the clock of the database was ahead of a partition's time when its deliveries last followed it, in
 * milliseconds; null: nobody has looked yet.
 */
export const deliveryClock = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE journal_owner ADD COLUMN deliveries_ahead_ms float8`
})
