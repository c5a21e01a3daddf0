import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** How a trunk writes numbers (`carrier/number/TrunkNumberPlan.ts`); null: the operator set nothing. */
export const numberPlan = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`ALTER TABLE route ADD COLUMN number_plan jsonb`
)
