import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Audit lines of no tenant: what the operator changes for all. And who had a trial credit, by the identity of the
 * address (`tenancy/tenant/AddressIdentity.ts`), hashed; those of before count too.
 */
export const money = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE audit ALTER COLUMN tenant_id DROP NOT NULL`
  yield* sql`CREATE INDEX audit_service ON audit (ordinal DESC) WHERE tenant_id IS NULL`
  yield* sql`
    CREATE TABLE trial_credit (
      identity_hash text PRIMARY KEY, tenant_id uuid NOT NULL UNIQUE REFERENCES tenant, given_at timestamptz NOT NULL
    )`
  // The rules of today, written down: this must not change with the code.
  yield* sql`
    WITH given AS (
      SELECT l.tenant_id, l.created_at, lower(split_part(m.email, '@', 1)) AS local, lower(split_part(m.email, '@', 2)) AS domain
      FROM ledger l JOIN member m ON m.tenant_id = l.tenant_id AND m.role = 'owner'
      WHERE l.cause = 'trial:' || l.tenant_id
    ), folded AS (
      SELECT tenant_id, created_at,
        CASE
          WHEN domain IN ('gmail.com', 'googlemail.com') THEN replace(split_part(local, '+', 1), '.', '') || '@gmail.com'
          WHEN domain IN ('icloud.com', 'me.com', 'mac.com') THEN split_part(local, '+', 1) || '@icloud.com'
          WHEN domain IN ('proton.me', 'protonmail.com', 'protonmail.ch', 'pm.me')
            THEN translate(split_part(local, '+', 1), '.-_', '') || '@proton.me'
          WHEN domain IN ('outlook.com', 'hotmail.com', 'live.com', 'msn.com', 'fastmail.com')
            THEN split_part(local, '+', 1) || '@' || domain
          ELSE local || '@' || domain
        END AS identity
      FROM given
    )
    INSERT INTO trial_credit (identity_hash, tenant_id, given_at)
    SELECT encode(sha256(convert_to(identity, 'UTF8')), 'hex'), tenant_id, created_at FROM folded ORDER BY created_at
    ON CONFLICT DO NOTHING`
})
