import { Context } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * One connection for work that nobody waits for: pruning old rows, building indexes. So it takes no connection from
 * requests or from the journal. Its statements may take as long as they need, and what they commit may be lost in a
 * crash of the database, because it is done again. Null: the shared pool serves it too (tests).
 */
export const UpkeepClient = Context.Reference<SqlClient.SqlClient | null>("trunkline/store/UpkeepClient", {
  defaultValue: () => null
})
