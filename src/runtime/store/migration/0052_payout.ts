import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What is left of the balance of a closed tenant goes back to its cards, in rounds: each request of the operator is one.
 * A refund that a round has asked for carries its number; null: the operator asked for that refund alone.
 */
export const payout = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE payout (
      tenant_id uuid PRIMARY KEY REFERENCES tenant, round int NOT NULL, requested_at timestamptz NOT NULL,
      finished_at timestamptz, left_cents bigint
    )`
  yield* sql`ALTER TABLE payment_refund ADD COLUMN payout_round int`
  yield* sql`CREATE INDEX payment_refund_tenant ON payment_refund (tenant_id)`
})
