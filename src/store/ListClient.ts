import { Context } from "effect"
import type { SqlClient } from "effect/sql"
import * as FairPlaces from "../actor/FairPlaces.ts"

/**
 * Connections of the lists' own, whose statements have a limit of time, so that nothing else ever waits behind a
 * tenant's lists. Null: the shared pool serves them too (tests).
 */
export const ListClient = Context.Reference<SqlClient.SqlClient | null>("trunkline/store/ListClient", {
  defaultValue: () => null
})

/** Lists that are read at once: as many as there are connections for them. */
export const connections = 2

/** One tenant's lists are read one after the other, each after as long a rest as the one before it took. */
const turns = { places: connections, each: 1, rests: 1, room: 1_024, patienceMs: 5_000 }

/** Turns of the tenants that read lists. */
export const ListTurns = Context.Reference<FairPlaces.FairPlaces>("trunkline/store/ListTurns", {
  defaultValue: () => FairPlaces.make(turns)
})
