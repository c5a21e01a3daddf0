import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The tenants with a seal of the day, which show whose seal was deleted. The hash of the root covers the seals.
 * Null: the root is older than this column.
 */
export const rootTenants = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`ALTER TABLE ledger_seal_root ADD COLUMN tenant_ids uuid[]`
)
