import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The moment at which an account of another workspace took the address of a member of a closed one; null: the address
 * is the member's. The member keeps it for the export.
 */
export const releasedAddress = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.gen(function* () {
    yield* sql`ALTER TABLE member ADD COLUMN address_released_at timestamptz`
    yield* sql`ALTER TABLE member DROP CONSTRAINT member_email_key`
    yield* sql`CREATE UNIQUE INDEX member_email ON member (email) WHERE address_released_at IS NULL`
  })
)
