import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What a process that stands by looks at: `holder` is the data directory of the owner, `ended_epoch` the last epoch
 * that ended in order. The unique index makes raising an epoch a change of a key: it waits for the commits that hold
 * the row `FOR KEY SHARE`, and a sign of life, which changes no key, does not.
 *
 * `vault_check` holds one constant text for each key of the vault that rows may be sealed under.
 */
export const owner = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE journal_owner ADD COLUMN holder text, ADD COLUMN ended_epoch bigint`
  yield* sql`CREATE UNIQUE INDEX journal_owner_epoch ON journal_owner (partition, epoch)`
  yield* sql`CREATE TABLE vault_check (sealed text PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now())`
})
