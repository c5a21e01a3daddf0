import { Context, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as FairPlaces from "../../fair/FairPlaces.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type { TenantId } from "../../../domain/Id.ts"

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

const crowded = ApiError.of("service_unavailable", "too many lists are being read; try again")
const tooSlow = ApiError.of("service_unavailable", "the list could not be read in time; try again")

/** The statement's time was over. */
const isCanceled = (error: SqlError): boolean => error.reason._tag === "StatementTimeoutError"

/**
 * Reads on the connections of the lists, in the turns of the tenants: what is read, and what is made of it in the same
 * effect, is a turn.
 *
 * It dies with an `ApiError` (503), which the edge answers, when the turn does not come or the statement takes too long.
 * What nobody waits for any more is not begun.
 */
export const reading = Effect.gen(function* () {
  const shared = yield* SqlClient.SqlClient
  const own = yield* ListClient
  const turns = yield* ListTurns
  return {
    sql: own ?? shared,
    within: <A>(tenantId: TenantId, read: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
      read.pipe(
        turns.within(tenantId),
        Effect.catch((error) =>
          error._tag === "NoRoom" ? Effect.die(crowded) : isCanceled(error) ? Effect.die(tooSlow) : Effect.fail(error)
        )
      )
  } as const
})
