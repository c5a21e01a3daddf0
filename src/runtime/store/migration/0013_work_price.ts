import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What the operator asks for work on a call, in micro-USD a minute or a check. What is not there is free. */
export const workPrice = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE work_price (kind text PRIMARY KEY, micro_usd bigint NOT NULL CHECK (micro_usd >= 0))`
})
