import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The operator's invitations to sign up, guide/tenants.md#who-may-sign-up. `tenant_id`: what its sign-up made. */
export const signupInvitation = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE signup_invitation (
      id uuid PRIMARY KEY, email text NOT NULL, token_hash text NOT NULL UNIQUE, status text NOT NULL,
      tenant_id uuid REFERENCES tenant, expires_at timestamptz NOT NULL, created_at timestamptz NOT NULL
    )`
)
