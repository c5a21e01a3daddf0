import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The name of a conference in lower case, by which it is looked for: a database may fold ASCII only. */
export const conferenceFoldedName = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE conference ADD COLUMN folded_name text NOT NULL DEFAULT ''`
  yield* sql`UPDATE conference SET folded_name = lower(name)`
})
