import { Context, Effect, Exit, Fiber, Schema, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"

/**
 * A connection of the owner's own, closed with its scope: it holds the locks, so it must not go back to a pool. Null:
 * one of the journal's pool (tests).
 */
export const OwnerConnection = Context.Reference<Effect.Effect<Connection, SqlError, Scope.Scope> | null>(
  "trunkline/store/OwnerConnection",
  { defaultValue: () => null }
)

/** A statement had no answer. The connection was given up, and what it had locked is free. */
export class Disconnected extends Schema.TaggedError<Disconnected>()("Disconnected", { detail: Schema.String }) {
  override get message() {
    return this.detail
  }
}

/** The database refused the statement over a connection that lives: a full disk, say. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", { detail: Schema.String }) {
  override get message() {
    return this.detail
  }
}

type Row = Readonly<Record<string, unknown>>

export interface OwnerSession {
  /** Runs a statement on the one connection, which is opened when there is none. One statement at a time. */
  readonly run: (
    text: string,
    parameters: ReadonlyArray<unknown>,
    withinMs: number
  ) => Effect.Effect<ReadonlyArray<Row>, Disconnected | Refused>
  /** Gives the connection up, and the locks with it. */
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

  // A connection that is silent closes slowly, and nobody waits for it.
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
   * Interrupting a statement waits for the server to answer to that. Here the statement stays behind, and ends with its
   * connection.
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

/** A connection that goes back to the pool must leave no lock behind. */
const pooled = (sql: SqlClient.SqlClient) =>
  Effect.acquireRelease(sql.reserve, (connection) =>
    Effect.ignore(connection.executeUnprepared("SELECT pg_advisory_unlock_all()", [], undefined))
  )
