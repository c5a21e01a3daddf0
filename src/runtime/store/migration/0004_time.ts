import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The time of a partition, which passes evenly wherever a clock is set: what it was at the owner's last heartbeat, and at
 * the last sign of life to which calls that a dead process left are billed. Until now both were the database's clock.
 */
export const time = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE journal_owner ADD COLUMN time_ms float8, ADD COLUMN alive_ms float8`
})
