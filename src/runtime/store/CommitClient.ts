import { Context } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * Separate connections for the journal, so that commits and the deliveries that follow them never wait for a tenant's
 * slow lists. Null: the shared pool serves them too (tests).
 */
export const CommitClient = Context.Reference<SqlClient.SqlClient | null>("trunkline/store/CommitClient", {
  defaultValue: () => null
})
