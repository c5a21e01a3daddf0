import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Setups, saves and declines of cards of the last day, which are counted by workspace and by address
 * (`money/funding/CardTrials.ts`). `address` is null for charges that no request caused.
 */
export const cardTrial = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.all([
    sql`
      CREATE TABLE card_trial (
        ordinal bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant_id uuid NOT NULL REFERENCES tenant,
        address text, kind text NOT NULL, at timestamptz NOT NULL
      )`,
    sql`CREATE INDEX card_trial_tenant ON card_trial (tenant_id, at)`,
    sql`CREATE INDEX card_trial_address ON card_trial (address, at) WHERE address IS NOT NULL`,
    sql`CREATE INDEX card_trial_age ON card_trial (at)`
  ])
)
