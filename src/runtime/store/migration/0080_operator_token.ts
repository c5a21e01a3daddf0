import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The tokens of persons who operate the service, as SHA-256 (`edge/operator/door/NamedOperators.ts`). */
export const operatorToken = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE operator_token (name text PRIMARY KEY, token_hash text NOT NULL UNIQUE, created_at timestamptz NOT NULL)`
)
