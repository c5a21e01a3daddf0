import { Context, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as FairSemaphore from "../../../domain/fair/FairSemaphore.ts"
import * as Policies from "../../../domain/fair/Policies.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type { TenantId } from "../../../domain/Id.ts"

/**
 * Separate connections for lists, whose statements have a time limit, so that nothing else ever waits for a tenant's
 * lists. Null: the shared pool serves them too (tests).
 */
export const ListClient = Context.Reference<SqlClient.SqlClient | null>("trunkline/store/ListClient", {
  defaultValue: () => null
})

/** The number of connections, which is the number of lists that are read at once. */
export const connections = Policies.lists.places

export const ListTurns = Context.Reference<FairSemaphore.FairSemaphore>("trunkline/store/ListTurns", {
  defaultValue: () => FairSemaphore.make(Policies.lists)
})

const crowded = ApiError.of("service_unavailable", "too many lists are being read; try again")
const tooSlow = ApiError.of("service_unavailable", "the list could not be read in time; try again")

/** True when the server cancelled the statement at its time limit. */
const isCanceled = (error: SqlError): boolean => error.reason._tag === "StatementTimeoutError"

/**
 * Reads on the connections of the lists, in the turns of the tenants. A turn includes the processing of the rows in the
 * same effect.
 *
 * It dies with an `ApiError` (503), which the edge answers, when the turn does not come or the statement takes too
 * long. A read whose caller has gone is not begun.
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
          error._tag === "NoCapacity"
            ? Effect.die(crowded)
            : isCanceled(error)
              ? Effect.die(tooSlow)
              : Effect.fail(error)
        )
      )
  } as const
})
