import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Gives conferences the rule for the member that is left alone on hold; null: there is none. */
export const leftOnHold = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE conference ADD COLUMN on_member_left text`
})
