import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { EntityId } from "../../../domain/Id.ts"
import type { Kind, StoredEntity, StoredInput, StoredOf } from "./Journal.ts"

/** Reads the stored entities and inputs without decoding them. A failed read dies. */
export const make = (sql: SqlClient.SqlClient) => {
  const entity = sql`id, kind, tenant_id, partition, seq, settled, state_version,
    state || coalesce((SELECT jsonb_build_object(min(field), jsonb_agg(value ORDER BY ordinal))
      FROM entity_element WHERE entity_id = entity.id HAVING count(*) > 0), '{}') AS state`

  return {
    find: Effect.fn("Journal.find")(function* (entityId: EntityId) {
      const rows = yield* Effect.orDie(sql<StoredEntity>`SELECT ${entity} FROM entity WHERE id = ${entityId}`)
      return rows[0] ?? null
    }),

    unsettled: Effect.fn("Journal.unsettled")(<K extends Kind>(kind: K, partition: number) =>
      Effect.orDie(sql<StoredOf<K>>`
        SELECT ${entity} FROM entity WHERE partition = ${partition} AND kind = ${kind} AND NOT settled`)
    ),

    inputs: Effect.fn("Journal.inputs")((entityId: EntityId) =>
      Effect.orDie(sql<StoredInput>`
        SELECT seq, at, seed, machine_version, input
        FROM journal WHERE entity_id = ${entityId} ORDER BY seq`)
    )
  }
}
