import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** How a call was rated, for the files of calls. Null in calls of earlier versions. */
export const callRating = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    ALTER TABLE call
      ADD COLUMN destination text, ADD COLUMN micro_usd_per_minute bigint, ADD COLUMN increments text,
      ADD COLUMN billed_seconds int`
)
