import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Over what a root of seals goes: 1, as until now, over chains, entries and balances; later ones over calls too. */
export const sealCalls = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE ledger_seal_root ADD COLUMN version int NOT NULL DEFAULT 1`
})
