import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Seals of the ledger, kept for ever: one row for each tenant and round of the sealer, and one for each round.
 *
 * `through_ordinal`: up to where a seal goes. `total_entries`, `balance_cents`, `calls_rated` and `calls_debited` count
 * from the tenant's beginning; calls that began before `calls_until` are among them.
 */
export const proof = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE ledger_seal (
      tenant_id uuid NOT NULL REFERENCES tenant, number int NOT NULL, day date NOT NULL, through_ordinal bigint NOT NULL,
      through_at timestamptz NOT NULL, entries bigint NOT NULL, credits_cents bigint NOT NULL, debits_cents bigint NOT NULL,
      balance_before_cents bigint NOT NULL, balance_cents bigint NOT NULL, total_entries bigint NOT NULL, chain_hash text NOT NULL,
      calls_rated bigint NOT NULL, calls_debited bigint NOT NULL, calls_until timestamptz NOT NULL,
      PRIMARY KEY (tenant_id, number)
    )`
  yield* sql`CREATE UNIQUE INDEX ledger_seal_day ON ledger_seal (day, tenant_id)`
  yield* sql`
    CREATE TABLE ledger_seal_root (
      number int PRIMARY KEY, day date NOT NULL UNIQUE, seals int NOT NULL, entries bigint NOT NULL, root_hash text NOT NULL,
      sealed_at timestamptz NOT NULL
    )`
})
