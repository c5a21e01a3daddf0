import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The entries of a ledger that moved money at the card processor: there are few of them among many. */
export const cardEntries = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE INDEX ledger_card ON ledger (tenant_id)
    WHERE type IN ('topup', 'auto_recharge') OR reference_type = 'topup'`
)
