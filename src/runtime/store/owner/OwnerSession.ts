import { Context, Effect, Exit, Fiber, Schema, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"

/**
 * A separate connection for the owner, closed with its scope. It holds the locks, so it must not go back to a pool.
 * Null: a connection of the journal's pool is used (tests).
 */
export const OwnerConnection = Context.Reference<Effect.Effect<Connection, SqlError, Scope.Scope> | null>(
  "trunkline/store/OwnerConnection",
  { defaultValue: () => null }
)

/** A statement had no answer. The connection was given up, and its locks are free. */
class Disconnected extends Schema.TaggedError<Disconnected>()("Disconnected", { detail: Schema.String }) {
  override get message() {
    return this.detail
  }
}

/** The database refused the statement on a working connection, for example because of a full disk. */
class Refused extends Schema.TaggedError<Refused>()("Refused", { detail: Schema.String }) {
  override get message() {
    return this.detail
  }
}

type Row = Readonly<Record<string, unknown>>

export interface OwnerSession {
  /** Runs a statement on the one connection, and opens it when there is none. One statement runs at a time. */
  readonly run: (
    text: string,
    parameters: ReadonlyArray<unknown>,
    withinMs: number
  ) => Effect.Effect<ReadonlyArray<Row>, Disconnected | Refused>
  /** Closes the connection, which frees the locks. */
  readonly close: Effect.Effect<void>
}

const aliveMs = 2_000
const connectMs = 10_000

/** The session closes with the scope. */
export const make = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient
): Effect.fn.Return<OwnerSession, never, Scope.Scope> {
  const connect = (yield* OwnerConnection) ?? pooled(sql)
  let open: { readonly scope: Scope.Closeable; readonly connection: Connection } | null = null

  // Closing a silent connection takes long, so the wait for it is bounded.
  const close = Effect.suspend(() => {
    if (open === null) return Effect.void
    const { scope } = open
    open = null
    return Effect.ignore(Effect.timeout(Scope.close(scope, Exit.void), "1 second"))
  })
  yield* Effect.addFinalizer(() => close)

  const opened = Effect.gen(function* () {
    if (open !== null) return open.connection
    const scope = yield* Scope.make()
    const connection = yield* connect.pipe(
      Scope.provide(scope),
      Effect.timeout(connectMs),
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
    open = { scope, connection }
    return connection
  })

  /**
   * Runs the statement in a fiber, because interrupting a statement waits for the server's answer. An abandoned
   * statement ends with its connection.
   */
  const within = <A, E>(statement: Effect.Effect<A, E>, ms: number) =>
    Effect.flatMap(Effect.forkChild(statement), (fiber) => Effect.timeout(Fiber.join(fiber), ms))

  const run = (connection: Connection, text: string, parameters: ReadonlyArray<unknown>, ms: number) =>
    within(connection.executeUnprepared(text, parameters, undefined), ms) as Effect.Effect<ReadonlyArray<Row>, Error>

  return {
    close,
    run: Effect.fnUntraced(function* (text, parameters, withinMs) {
      const connection = yield* Effect.catch(opened, (error) => new Disconnected({ detail: describe(error) }))
      return yield* Effect.catch(run(connection, text, parameters, withinMs), (error) =>
        Effect.matchEffect(run(connection, "SELECT 1", [], aliveMs), {
          onSuccess: () => Effect.fail(new Refused({ detail: describe(error) })),
          onFailure: () => Effect.andThen(close, new Disconnected({ detail: describe(error) }))
        })
      )
    })
  }
})

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Frees all locks before the connection goes back to the pool. */
const pooled = (sql: SqlClient.SqlClient) =>
  Effect.acquireRelease(sql.reserve, (connection) =>
    Effect.ignore(connection.executeUnprepared("SELECT pg_advisory_unlock_all()", [], undefined))
  )
