import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** SQL for the members in the stored state of a conference; none where they are no list of objects with an id. */
const members = `jsonb_array_elements(
  CASE WHEN jsonb_typeof(e.state -> 'members') = 'array' THEN e.state -> 'members' ELSE '[]' END)`

const movable = `e.kind = 'conference' AND NOT e.settled
  AND NOT EXISTS (SELECT FROM ${members} m WHERE jsonb_typeof(m -> 'id') IS DISTINCT FROM 'string')`

/**
 * The elements of a field of an entity's state, as rows beside it (`runtime/store/journal/Journal.ts`), in the order of
 * ordinal. The members of live conferences move there. A settled entity keeps its whole state in one row.
 */
export const entityElement = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE TABLE entity_element (
      entity_id text NOT NULL, id text NOT NULL, field text NOT NULL, value jsonb NOT NULL,
      ordinal bigint GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (entity_id, id)
    ) WITH (fillfactor = 60)`
  yield* sql.unsafe(`
    INSERT INTO entity_element (entity_id, id, field, value)
    SELECT e.id, m.value ->> 'id', 'members', m.value
    FROM entity e CROSS JOIN LATERAL ${members} WITH ORDINALITY m (value, place)
    WHERE ${movable} ORDER BY e.id, m.place
    ON CONFLICT (entity_id, id) DO NOTHING`)
  yield* sql.unsafe(`
    UPDATE entity e SET state = jsonb_set(e.state, '{members}', '[]')
    WHERE ${movable} AND jsonb_typeof(e.state -> 'members') = 'array'`)
})
