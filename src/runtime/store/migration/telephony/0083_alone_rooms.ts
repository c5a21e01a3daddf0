import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Gives conferences the time after which they end when all but one have left; null: they do not. */
export const aloneRooms = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE conference ADD COLUMN end_when_alone_secs integer`
})
