import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Finds the calls with a customer reference, the newest first, however many others there are. */
export const callReference = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE INDEX call_reference ON call (tenant_id, customer_reference, initiated_at DESC, id DESC)
    WHERE customer_reference IS NOT NULL`
)
