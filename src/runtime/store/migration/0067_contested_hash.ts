import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Removes the hashes of contested account numbers and PINs, which a few guesses reveal; later ones are sealed in
 * `account_secret`. An order that was in an exception before may be submitted again as it is, and the losing carrier
 * decides anew.
 */
export const contestedHash = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`ALTER TABLE porting_order DROP COLUMN contested`
)
