import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Increments of prices and costs (`domain/price/Increments.ts`); earlier rows count started minutes. `seconds` are
 * those of a leg; null: an earlier row, of which only the started minutes are known.
 */
export const rateIncrements = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.all([
    ...["rate", "cost_rate"].map(
      (table) => sql`
        ALTER TABLE ${sql.literal(table)}
          ADD COLUMN first_secs int NOT NULL DEFAULT 60,
          ADD COLUMN step_secs int NOT NULL DEFAULT 60,
          ADD COLUMN connection_fee_micro_usd bigint NOT NULL DEFAULT 0,
          ADD COLUMN minimum_micro_usd bigint NOT NULL DEFAULT 0`
    ),
    sql`ALTER TABLE trunk_leg ADD COLUMN seconds int`
  ])
)
