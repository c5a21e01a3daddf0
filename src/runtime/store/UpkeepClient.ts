import { Context } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * One connection for work that no caller waits for: pruning old rows, building indexes. So this work takes no
 * connection from requests or from the journal. Its statements have no time limit, and their commits may be lost in a
 * crash of the database, because the work is done again. Null: the shared pool serves it too (tests).
 */
export const UpkeepClient = Context.Reference<SqlClient.SqlClient | null>("trunkline/store/UpkeepClient", {
  defaultValue: () => null
})
