import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Gives events a lane of their own beside that of their entity (`domain/event/EventLane.ts`); null: the entity's. The
 * index finds the deliveries that have overtaken a retry.
 */
export const eventLane = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE event ADD COLUMN lane text`
  yield* sql`
    CREATE INDEX webhook_delivery_newest ON webhook_delivery (destination, lane, sequence)
    WHERE starts_with(lane, 'newest:')`
})
