import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What trunks carried (`runtime/store/usage/TrunkLeg.ts`): a row for each answered leg of an ended call, as far as a margin asks for it.
 *
 * The version before kept this in the states of calls only. The job that counts what it left (`telephony/call/stored/UsageBackfill.ts`)
 * reads those, from `position` on.
 */
export const trunkLeg = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SET LOCAL statement_timeout = 0`
  yield* sql`
    CREATE TABLE trunk_leg (
      call_id text NOT NULL, ordinal int NOT NULL, tenant_id uuid NOT NULL, route_id text NOT NULL, destination text,
      ended_at timestamptz NOT NULL, direction text, digits text, started_at timestamptz, minutes int,
      debited_cents bigint NOT NULL, PRIMARY KEY (call_id, ordinal)
    )`
  yield* sql`CREATE INDEX trunk_leg_ended ON trunk_leg (ended_at)`
  yield* sql`
    INSERT INTO usage_backfill (name, position, until, others)
    SELECT 'trunks', '', '', '{}' WHERE EXISTS (SELECT 1 FROM call)`
})
