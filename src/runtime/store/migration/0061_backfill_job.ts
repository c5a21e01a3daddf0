import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Removes a job that only version 0.1 had: it counted usage of still earlier versions. A backup of 0.1 has its row,
 * which would be due for ever because nothing runs it any more.
 */
export const backfillJob = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`DELETE FROM job WHERE kind = 'usage.backfill'`
)
