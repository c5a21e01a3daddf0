import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * When a member logged in last; whose a key is, and whether a login made it; and invitations to a team. A key outlives
 * its member, and opens nothing then.
 */
export const team = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE member ADD COLUMN last_login_at timestamptz`
  yield* sql`CREATE INDEX member_tenant ON member (tenant_id, created_at DESC, id)`
  yield* sql`ALTER TABLE api_key ADD COLUMN member_id uuid, ADD COLUMN is_login boolean NOT NULL DEFAULT false`
  yield* sql`CREATE INDEX api_key_member ON api_key (member_id) WHERE member_id IS NOT NULL`
  yield* sql`
    CREATE TABLE invitation (
      id uuid PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant, email text NOT NULL, role text NOT NULL,
      token_hash text NOT NULL UNIQUE, invited_by uuid, status text NOT NULL, expires_at timestamptz NOT NULL,
      created_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX invitation_tenant ON invitation (tenant_id, created_at DESC, id)`
})
