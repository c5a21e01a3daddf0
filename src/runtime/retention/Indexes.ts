import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * Makes sure that an index exists and is valid. It is built concurrently with the traffic, for as long as a big table
 * needs, so neither a start nor a commit waits for it. The rest of an interrupted build is dropped and built again.
 */
export const ensure = Effect.fn("Indexes.ensure")(function* (
  sql: SqlClient.SqlClient,
  index: { readonly name: string; readonly on: string }
) {
  const [found] = yield* sql<{ readonly valid: boolean }>`
    SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass(${index.name})`
  if (found?.valid === true) return
  // The indexes of a new database are built at once, which is not worth a line at level info.
  const [table] = index.on.split(" ", 1)
  const [filled] = yield* sql.unsafe(`SELECT FROM ${table} LIMIT 1`)
  const tell = filled === undefined ? Effect.logDebug : Effect.logInfo
  yield* tell("an index is built beside the traffic; rows are pruned when it is there", index)
  if (found !== undefined) yield* sql.unsafe(`DROP INDEX CONCURRENTLY IF EXISTS ${index.name}`)
  yield* sql.unsafe(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${index.name} ON ${index.on}`)
  yield* tell("the index is there", { name: index.name })
})
