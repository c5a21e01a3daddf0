import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Letters are counted by kind, for each mailbox and each workspace (`ports/letter/LetterLimits.ts`). Both columns are
 * null for letters that an older version posts meanwhile, which are not counted.
 */
export const letterLimit = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.all([
    sql`ALTER TABLE letter ADD COLUMN kind text, ADD COLUMN mailbox text`,
    sql`
      UPDATE letter SET mailbox = to_address, kind = split_part(cause, ':', 1)
      WHERE split_part(cause, ':', 1) IN ('verification', 'password_reset', 'invitation')`,
    sql`CREATE INDEX letter_mailbox ON letter (mailbox, kind, created_at)`,
    sql`CREATE INDEX letter_tenant ON letter (tenant_id, kind, created_at)`
  ])
)
