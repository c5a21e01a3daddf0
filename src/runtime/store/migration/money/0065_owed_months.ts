import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Prices of number orders include the first month, and months of numbers that a tenant has no longer stay owed
 * (`numbers/number/NumberLife.ts`). `debited_cents` is null for orders from before, which debited only the upfront
 * cost.
 */
export const owedMonths = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.all([
    sql`ALTER TABLE number_order ADD COLUMN debited_cents bigint`,
    sql`
      ALTER TABLE phone_number ADD COLUMN debited_cents bigint,
        ADD COLUMN owed_from timestamptz, ADD COLUMN owed_until timestamptz`,
    sql`CREATE INDEX phone_number_owed ON phone_number (tenant_id) WHERE owed_from IS NOT NULL`
  ])
)
