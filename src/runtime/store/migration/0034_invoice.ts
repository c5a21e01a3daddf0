import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Invoices, kept for ever. `document` is what was true at issue: lines, seller, buyer. An invoice covers the entries of
 * the ledger behind the one before, up to `through_ordinal`. `invoice_number` holds the last number, so that one which
 * is given back with its transaction leaves no gap.
 */
export const invoice = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE invoice (
      id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, number bigint NOT NULL UNIQUE, status text NOT NULL,
      period date NOT NULL, period_start timestamptz NOT NULL, period_end timestamptz NOT NULL, through_ordinal bigint NOT NULL,
      total_cents bigint NOT NULL, amount_due_cents bigint NOT NULL, document jsonb NOT NULL, issued_at timestamptz NOT NULL,
      paid_at timestamptz, ordinal bigint GENERATED ALWAYS AS IDENTITY, UNIQUE (tenant_id, period)
    )`
  yield* sql`CREATE INDEX invoice_tenant ON invoice (tenant_id, ordinal DESC)`
  yield* sql`CREATE INDEX invoice_open ON invoice (tenant_id) WHERE status = 'open'`
  yield* sql`CREATE TABLE invoice_number (name text PRIMARY KEY, last bigint NOT NULL)`
  yield* sql`INSERT INTO invoice_number (name, last) VALUES ('invoice', 0)`
  yield* sql`CREATE TABLE invoice_seller (name text PRIMARY KEY, party jsonb NOT NULL, updated_at timestamptz NOT NULL)`
  yield* sql`
    CREATE TABLE invoice_buyer (tenant_id uuid PRIMARY KEY REFERENCES tenant, party jsonb NOT NULL, updated_at timestamptz NOT NULL)`
})
