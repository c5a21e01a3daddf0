import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Porting orders, their numbers and documents. Account number and PIN of the end user are sealed. A document is kept in
 * parts, so that neither a backup nor a download holds more of it than that.
 */
export const porting = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE porting_order (
    id text PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, status text NOT NULL, details jsonb NOT NULL,
    contested jsonb NOT NULL, end_user jsonb NOT NULL, account_secret text, numbers jsonb NOT NULL,
    requested_foc_at timestamptz, foc_at timestamptz, losing_carrier text, route_id text, customer_reference text,
    parent_id text, before_cancel text, submitted_at timestamptz, exception_at timestamptz, ported_at timestamptz,
    cancelled_at timestamptz, created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL)`
  yield* sql`CREATE INDEX porting_order_tenant ON porting_order (tenant_id, created_at DESC, id)`
  yield* sql`CREATE INDEX porting_order_queue ON porting_order (status, updated_at)
    WHERE status NOT IN ('draft', 'ported', 'cancelled')`
  yield* sql`CREATE INDEX porting_order_age ON porting_order (updated_at)`
  yield* sql`CREATE TABLE porting_document (
    id text PRIMARY KEY, porting_order_id text NOT NULL REFERENCES porting_order ON DELETE CASCADE, tenant_id uuid NOT NULL,
    document_type text NOT NULL, filename text NOT NULL, content_type text NOT NULL, size_bytes bigint NOT NULL,
    sha256 text NOT NULL, status text NOT NULL, created_at timestamptz NOT NULL)`
  yield* sql`CREATE INDEX porting_document_order ON porting_document (porting_order_id, created_at, id)`
  yield* sql`CREATE TABLE porting_document_part (
    document_id text NOT NULL REFERENCES porting_document ON DELETE CASCADE, part int NOT NULL, bytes bytea NOT NULL,
    PRIMARY KEY (document_id, part))`
})
