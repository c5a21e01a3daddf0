import * as PgClient from "@effect/sql-pg/PgClient"
import type * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PgPool from "@effect/sql-pg/PgPool"
import { Context, Effect, Fiber, Layer, Metric } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import type { Borrower, Connection } from "effect/sql/SqlConnection"
import { SqlError } from "effect/sql/SqlError"
import { randomUUID } from "node:crypto"
import { Starting } from "../../process/Starting.ts"
import * as Outage from "../Outage.ts"
import { StatementLimit } from "../StatementLimit.ts"
import * as Unanswered from "../journal/Unanswered.ts"
import { type Address, driverConfig } from "./Address.ts"
import * as Backend from "./Backend.ts"
import * as Committing from "./Committing.ts"
import * as RowConversion from "./RowConversion.ts"
import { beginWriting, Session, unanswered } from "./Session.ts"
import * as SessionSettings from "./SessionSettings.ts"
import * as StatementWatch from "./StatementWatch.ts"

export interface Options extends Address {
  /** The name of the pool, for metrics. */
  readonly name: string
  readonly maxConnections: number
  /**
   * `fenced`: a statement outside of a transaction only reads, and one that writes gets a transaction to itself, so
   * that a process which lost the journal writes nothing. `own`: the caller fences its statements itself, at no cost.
   * `none`: the client only reads.
   */
  readonly writes: "fenced" | "own" | "none"
  readonly settings?: SessionSettings.Settings
  /** How long a statement waits for a free connection, including the time to connect. */
  readonly acquireMs?: number
  /** Called with 1 when a statement or transaction begins to wait for the database, and with -1 when that ends. */
  readonly onWork?: (by: 1 | -1) => void
}

const acquireMsOtherwise = 2_000

/**
 * While the process starts, a statement waits this long for a connection and for its answer, and a database that
 * refuses connections is asked again: it may start at the same time, or the machine may be busy.
 */
const startMs = 60_000
const startRetryMs = 250

const inUse = Metric.gauge("database_connections_in_use", {
  description: "Connections with a statement or a transaction"
})
const waiting = Metric.gauge("database_connections_waited_for", {
  description: "Statements that wait for a connection"
})
const givenUp = Metric.counter("database_statements_given_up_total", {
  description: "Statements without an answer at their deadline, and those that found no connection",
  incremental: true
})

/**
 * A pool of Postgres sessions as an `SqlClient` whose answers are true and come in time.
 *
 * - Each statement has a deadline (`StatementLimit`), and so has the wait for a connection. A connection that is
 *   silent at the deadline is given up and replaced. The caller gets an error for which `Outage.is` holds, with
 *   `Unanswered` as its cause.
 * - A transaction succeeds if and only if it is in the database (`Committing`), and commits only under an epoch that
 *   this process holds (`WriteFence`).
 */
export const make = Effect.fnUntraced(function* (options: Options) {
  const { maxConnections, name, writes } = options
  const starting = yield* Starting
  const acquireMs = () => (starting.isOver() ? (options.acquireMs ?? acquireMsOtherwise) : startMs)
  const limited = (limitMs: number) => (starting.isOver() ? limitMs : Math.max(limitMs, startMs))
  /**
   * Asks a database again that cannot be reached while the process starts, until the caller gives up. Credentials that
   * are refused do not become right.
   */
  const insist = <A, E, R>(
    ask: Effect.Effect<A, E, R>,
    said: (error: SqlError) => void,
    isUsed: () => boolean = () => false
  ): Effect.Effect<A, E, R> =>
    Effect.catch(ask, (error) => {
      if (starting.isOver() || isUsed() || !(error instanceof SqlError)) return Effect.fail(error)
      if (!Outage.is(error) || error.reason._tag === "AuthenticationError") return Effect.fail(error)
      said(error)
      return Effect.andThen(Effect.sleep(startRetryMs), insist(ask, said, isUsed))
    })
  const config: PgPool.Config = { ...driverConfig(options), maxConnections, types: RowConversion.settings.types }
  const pool = yield* PgPool.make(config)
  const settle = SessionSettings.onFirstUse({
    ...SessionSettings.common,
    ...(writes === "own" ? {} : SessionSettings.fenced),
    ...options.settings
  })
  const reserve = Effect.flatMap(Effect.tap(pool.get, settle), (pg) => pg.pin)
  const watch = yield* StatementWatch.make
  const context = yield* Effect.context()
  const counted = { inUse: 0, waiting: 0 }
  const count = (which: "inUse" | "waiting", by: 1 | -1): void => {
    counted[which] += by
    options.onWork?.(by)
    Metric.withAttributes(which === "inUse" ? inUse : waiting, { pool: name }).updateUnsafe(counted[which], context)
  }
  const late = (message: string, of: { readonly wasSent: boolean; readonly ended: Effect.Effect<void, SqlError> }) => {
    Metric.withAttributes(givenUp, { pool: name }).updateUnsafe(1, context)
    return unanswered(message, { ...of, wasSlow: of.wasSent })
  }
  const noConnection = (limitMs: number, why: SqlError | null) =>
    late(`no connection to the database within ${limitMs} ms${why === null ? "" : `: ${reasonOf(why)}`}`, {
      wasSent: false,
      ended: Effect.void
    })
  const noAnswer = (limitMs: number, ended: Effect.Effect<void, SqlError>) =>
    late(`no answer of the database within ${limitMs} ms`, { wasSent: true, ended })

  const life = randomUUID()
  let transactions = 0
  const commitOf = (yield* Committing.make)(config, () => `${life}/${++transactions}`)

  const transaction = <A>(session: Session, statement: (session: Session) => Effect.Effect<A, SqlError>) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        yield* session.query(beginWriting)
        const answer = yield* Effect.onError(restore(statement(session)), () =>
          Effect.ignore(session.query("ROLLBACK"))
        )
        yield* commitOf(session)
        return answer
      })
    )

  /** A session for one caller. After a statement without an answer it takes no other one. */
  const exclusive = (pg: PgConnection.PgConnection): Session => {
    let lost: SqlError | null = null
    const ask = <A>(work: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
      Effect.contextWith((services: Context.Context<never>) =>
        Effect.callback<A, SqlError>((resume) => {
          if (lost !== null) return resume(Effect.fail(lost))
          const limitMs = limited(Context.get(services, StatementLimit))
          let running: Fiber.Fiber<A, SqlError> | null = null
          const patience = watch.start(limitMs, () => {
            lost = noAnswer(limitMs, Effect.void)
            resume(Effect.fail(lost))
            running?.interruptUnsafe()
          })
          running = Effect.runForkWith(services)(work)
          running.addObserver((exit) => {
            patience.end()
            resume(exit)
          })
          return Effect.suspend(() => {
            patience.end()
            return Fiber.interrupt(running)
          })
        })
      )
    return new Session(pg, { ask, ended: Effect.void, writing: null })
  }

  /** The effects that end the sessions of this pool whose statements may take effect after their answer was lost. */
  const ends = new WeakMap<PgConnection.PgConnection, Effect.Effect<void, SqlError>>()
  const endOf = Effect.fnUntraced(function* (pg: PgConnection.PgConnection) {
    const known = ends.get(pg)
    if (known !== undefined) return known
    const { rows } = yield* pg.query(`SELECT ${Backend.columns}`)
    const end = Backend.end(config, rows[0] as unknown as Backend.Backend)
    ends.set(pg, end)
    return end
  })

  /** Runs one statement. The caller is answered at the deadline; the connection comes back when it has been drained. */
  const borrower: Borrower = <A, E, R>(use: (connection: Connection) => Effect.Effect<A, E, R>) =>
    Effect.contextWith((services: Context.Context<R>) =>
      Effect.callback<A, E | SqlError>((resume) => {
        const limitMs = limited(Context.get(services, StatementLimit))
        const connectMs = acquireMs()
        let ended: Effect.Effect<void, SqlError> = Effect.void
        let isSent = false
        let limit = connectMs
        let refused: SqlError | null = null
        const waits = starting.awaits("the database")
        let running: Fiber.Fiber<A, E | SqlError> | null = null
        count("waiting", 1)
        const patience = watch.start(connectMs, () => {
          resume(Effect.fail(isSent ? noAnswer(limit, ended) : noConnection(connectMs, refused)))
          running?.interruptUnsafe()
        })
        const lend = (pg: PgConnection.PgConnection) =>
          Effect.gen(function* () {
            yield* settle(pg)
            count("waiting", -1)
            count("inUse", 1)
            isLent = true
            patience.restart(limitMs)
            limit = limitMs
            if (writes === "own") ended = yield* endOf(pg)
            return yield* use(
              new Session(pg, {
                ask: (work) =>
                  Effect.suspend(() => {
                    isSent = true
                    patience.restart(limitMs)
                    return work
                  }),
                ended,
                writing:
                  writes !== "fenced"
                    ? null
                    : (statement) => {
                        // Each statement of the transaction has a limit of its own, and its outcome is waited for.
                        patience.restart(Infinity)
                        // A pin that is given back with work outstanding closes the connection.
                        return Effect.scoped(
                          Effect.flatMap(pg.pin, (pinned) => transaction(exclusive(pinned), statement))
                        )
                      }
              })
            )
          })
        let isLent = false
        // The connection was refused, or it broke before the statement was sent.
        const unsent = (error: E | SqlError) =>
          !isSent && error instanceof SqlError && Outage.is(error) && Unanswered.of(error) === null
            ? asUnsent(error)
            : error
        const asked = insist(
          pool.use(lend),
          (error) => (refused = error),
          () => isLent
        )
        running = Effect.runForkWith(services)(Effect.mapError(asked, unsent))
        running.addObserver((exit) => {
          waits()
          count(isLent ? "inUse" : "waiting", -1)
          patience.end()
          resume(exit)
        })
        return Effect.suspend(() => {
          patience.end()
          return Fiber.interrupt(running)
        })
      })
    )

  const lease = Effect.gen(function* () {
    count("waiting", 1)
    const connectMs = acquireMs()
    let refused: SqlError | null = null
    const pg = yield* insist(reserve, (error) => (refused = error)).pipe(
      Effect.timeoutOrElse({
        duration: connectMs,
        orElse: () => Effect.suspend(() => Effect.fail(noConnection(connectMs, refused)))
      }),
      Effect.mapError((error) => (error.reason._tag === "ConnectionError" ? asUnsent(error) : error)),
      Effect.ensuring(Effect.sync(() => count("waiting", -1)))
    )
    count("inUse", 1)
    yield* Effect.addFinalizer(() => Effect.sync(() => count("inUse", -1)))
    return exclusive(pg)
  })

  return yield* SqlClient.make({
    acquirer: lease,
    borrower,
    transactionAcquirer: lease,
    compiler: PgClient.makeCompiler(),
    transformRows: RowConversion.transformRows,
    driver: "pg",
    prepareTransactionControls: true,
    beginTransaction: beginWriting,
    commit: (connection) =>
      connection instanceof Session ? commitOf(connection) : Effect.die(new Error("a session of another client")),
    releaseSavepoint: (savepoint) => `RELEASE SAVEPOINT ${savepoint}`,
    spanAttributes: [["db.system.name", "postgresql"]]
  })
})

const reasonOf = ({ message, reason: { cause } }: SqlError): string =>
  cause instanceof Error && cause.message !== "" ? cause.message : message

const asUnsent = (error: SqlError): SqlError =>
  unanswered(error.message, { wasSent: false, wasSlow: false, ended: Effect.void, cause: error.reason.cause })

export const layer = (options: Options): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.effect(SqlClient.SqlClient, make(options)).pipe(Layer.provide(Reactivity.layer))
