import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The concurrent limit of a plan stands with its subscription, beside the quota. Until now it was written over the quota,
 * and `limit_before` said what had been there: that is given back.
 */
export const planLimit = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE plan_subscription ADD COLUMN concurrent_call_limit int`
  yield* sql`
    UPDATE plan_subscription s SET concurrent_call_limit = p.concurrent_call_limit FROM plan p WHERE p.slug = s.plan_slug`
  yield* sql`
    UPDATE entity e SET state = jsonb_set(e.state, '{quota,concurrentCallLimit}', to_jsonb(s.limit_before))
    FROM plan_subscription s WHERE e.id = s.tenant_id::text AND e.kind = 'account' AND s.limit_before IS NOT NULL`
  yield* sql`ALTER TABLE plan_subscription DROP COLUMN limit_before`
})
