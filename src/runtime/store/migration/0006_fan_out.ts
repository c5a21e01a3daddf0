import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Deliveries in lanes, fan-out off the commit, and endpoints that fail (src/webhook/README.md#fan-out).
 *
 * `in_lane`: the delivery's first try is still to come or under way, and holds up those behind it in its lane. Each
 * unfinished delivery stands in one of two indexes, the lanes or the retries, by tenant; finished ones are in neither.
 * Before, a first try was told from a retry by number and status.
 *
 * A row of `webhook_fan_out` is an event whose deliveries are still to be made, for subscriptions behind `after`.
 * `failing_since` is when an endpoint that has had no success since began to fail; null: its last attempt succeeded.
 *
 * Building an index reads its table once: no limit of time may end that half way.
 */
export const fanOut = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SET LOCAL statement_timeout = 0`
  yield* sql`ALTER TABLE webhook_delivery ADD COLUMN in_lane boolean NOT NULL DEFAULT true`
  yield* sql`
    UPDATE webhook_delivery SET in_lane = false
    WHERE due_at IS NOT NULL AND NOT (attempt_no = 0 OR (attempt_no = 1 AND status = 'sending'))`
  yield* sql`DROP INDEX webhook_delivery_due`
  // webhook_delivery_once begins with the event, too.
  yield* sql`DROP INDEX webhook_delivery_event`
  yield* sql`
    CREATE INDEX webhook_delivery_lane ON webhook_delivery (partition, tenant_id, destination, lane, sequence, ordinal)
    WHERE due_at IS NOT NULL AND in_lane`
  yield* sql`
    CREATE INDEX webhook_delivery_retry ON webhook_delivery (partition, tenant_id, destination, due_at, ordinal)
    WHERE due_at IS NOT NULL AND NOT in_lane`
  yield* sql`
    ALTER TABLE webhook_subscription ADD COLUMN failing_since timestamptz,
      ADD COLUMN failed_attempts int NOT NULL DEFAULT 0`
  yield* sql`CREATE INDEX webhook_subscription_active ON webhook_subscription (tenant_id, id) WHERE is_active`
  yield* sql`
    CREATE TABLE webhook_fan_out (
      ordinal bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, partition int NOT NULL, tenant_id uuid NOT NULL,
      event_id uuid NOT NULL UNIQUE, after text NOT NULL DEFAULT '', created_at timestamptz NOT NULL DEFAULT now()
    )`
  yield* sql`CREATE INDEX webhook_fan_out_turn ON webhook_fan_out (partition, tenant_id, ordinal)`
})
