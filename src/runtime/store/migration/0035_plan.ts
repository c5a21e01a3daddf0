import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Plans, and who has one. `included` of a subscription is that of its period, `used` what was taken of it; the debits up
 * to `through_ordinal` of the tenant's ledger have been looked at. `limit_before`: the concurrent limit without the plan.
 */
export const plan = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE plan (
      slug text PRIMARY KEY, name text NOT NULL, description text, is_public boolean NOT NULL, monthly_fee_cents bigint NOT NULL,
      included jsonb NOT NULL, concurrent_call_limit int, max_conference_participants int, created_at timestamptz NOT NULL
    )`
  yield* sql`
    CREATE TABLE plan_subscription (
      tenant_id uuid PRIMARY KEY REFERENCES tenant, plan_slug text NOT NULL REFERENCES plan, next_plan_slug text REFERENCES plan,
      status text NOT NULL, began_at timestamptz NOT NULL, period_start timestamptz NOT NULL, period_end timestamptz NOT NULL,
      included jsonb NOT NULL, used jsonb NOT NULL, through_ordinal bigint NOT NULL, limit_before int, next_try_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    )`
  yield* sql`CREATE INDEX plan_subscription_due ON plan_subscription (next_try_at)`
})
