import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Finds what plans gave back of a tenant's charges in a month, however long its ledger is. */
export const includedCredits = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE INDEX ledger_included ON ledger (tenant_id, created_at)
    WHERE type = 'adjustment' AND reference_type = 'ledger_entry'`
)
