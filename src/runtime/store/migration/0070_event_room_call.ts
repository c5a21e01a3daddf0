import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Finds the events of conferences that name a call. Events of the call itself are found by their entity. */
export const eventRoomCall = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE INDEX event_room_call ON event
      ((coalesce(body::json -> 'data' ->> 'call_id', body::json -> 'data' ->> 'host_call_id')))
    WHERE starts_with(entity_id, 'svc_conf_')`
)
