import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Prices of one tenant: decks of its own (tenant_id null: a deck for all), and a discount in hundredths of a percent on
 * the deck for all.
 */
export const tenantRates = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.all([
    sql`ALTER TABLE rate_deck ADD COLUMN tenant_id uuid`,
    sql`CREATE TABLE rate_discount (
      tenant_id uuid PRIMARY KEY, hundredths int NOT NULL CHECK (hundredths BETWEEN 1 AND 10000)
    )`
  ])
)
