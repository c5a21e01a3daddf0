import type * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Stream } from "effect"
import type { Connection } from "effect/sql/SqlConnection"
import { ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import * as Outage from "../Outage.ts"
import { Unanswered } from "../journal/Unanswered.ts"
import * as WritingStatement from "./WritingStatement.ts"

type Rows = ReadonlyArray<PgConnection.Row>
type Transform = (<A extends object>(row: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined

/** SQLSTATE class 57P0 (PostgreSQL, appendix A): the server ended the session, perhaps just after it had committed. */
const endedByServer = /^57P0/

/**
 * A lost session has rolled back, so a ROLLBACK there succeeds. As an error it would be a defect, and would replace the
 * error for which the transaction ends.
 */
const rollsBack = /^ROLLBACK/

/**
 * A connection of the pool, for one statement or for a transaction.
 *
 * `ask` bounds each statement. When the session is lent for one statement, `writing` wraps a statement that writes in a
 * transaction, so that it passes the fence too; null: the statement runs without one.
 */
export class Session implements Connection {
  readonly #pg: PgConnection.PgConnection
  readonly #ask: <A>(work: Effect.Effect<A, SqlError>) => Effect.Effect<A, SqlError>
  readonly #ended: Effect.Effect<void, SqlError>
  readonly #writing:
    | ((statement: (session: Session) => Effect.Effect<Rows, SqlError>) => Effect.Effect<Rows, SqlError>)
    | null

  constructor(
    pg: PgConnection.PgConnection,
    of: {
      readonly ask: <A>(work: Effect.Effect<A, SqlError>) => Effect.Effect<A, SqlError>
      readonly ended: Effect.Effect<void, SqlError>
      readonly writing:
        | ((statement: (session: Session) => Effect.Effect<Rows, SqlError>) => Effect.Effect<Rows, SqlError>)
        | null
    }
  ) {
    this.#pg = pg
    this.#ask = of.ask
    this.#ended = of.ended
    this.#writing = of.writing
  }

  /** Runs one statement, without a transaction around it. */
  query(
    text: string,
    parameters: ReadonlyArray<unknown> = [],
    prepare = true
  ): Effect.Effect<PgConnection.Result, SqlError> {
    return this.#bounded(this.#pg.query(text, parameters, prepare))
  }

  #bounded<A>(work: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> {
    return Effect.mapError(this.#ask(work), (error) => lossOf(error, this.#ended))
  }

  #rows(text: string, parameters: ReadonlyArray<unknown>, prepare: boolean): Effect.Effect<Rows, SqlError> {
    const rows = (session: Session) => Effect.map(session.query(text, parameters, prepare), (result) => result.rows)
    return this.#writing !== null && WritingStatement.may(text) ? this.#writing(rows) : rows(this)
  }

  execute(text: string, parameters: ReadonlyArray<unknown>, transform: Transform) {
    const answer = this.#rows(text, parameters, true)
    const rows = rollsBack.test(text) ? Effect.catchIf(answer, Outage.is, () => Effect.succeed([])) : answer
    return transform === undefined ? rows : Effect.map(rows, transform)
  }
  executeUnprepared(text: string, parameters: ReadonlyArray<unknown>, transform: Transform) {
    const rows = this.#rows(text, parameters, false)
    return transform === undefined ? rows : Effect.map(rows, transform)
  }
  executeRaw(text: string, parameters: ReadonlyArray<unknown>): Effect.Effect<unknown, SqlError> {
    return this.#writing !== null && WritingStatement.may(text)
      ? this.#rows(text, parameters, true)
      : this.query(text, parameters)
  }
  executeValues(text: string, parameters: ReadonlyArray<unknown>) {
    return this.#bounded(this.#pg.queryValues(text, parameters))
  }
  executeValuesUnprepared(text: string, parameters: ReadonlyArray<unknown>) {
    return this.#bounded(this.#pg.queryValues(text, parameters, false))
  }
  /** Streams are refused, because a stream would have no deadline. */
  executeStream() {
    return Stream.fail(
      new SqlError({ reason: new UnknownError({ cause: null, message: "rows are not streamed", operation: "stream" }) })
    )
  }
}

/**
 * Makes a lost connection an `Unanswered`, which can end the session, so that the outcome of the statement can be read.
 */
const lossOf = (error: SqlError, ended: Effect.Effect<void, SqlError>): SqlError => {
  const { cause } = error.reason
  if (cause instanceof Unanswered) return error
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
  if (error.reason._tag !== "ConnectionError" && !endedByServer.test(code)) return error
  return unanswered(error.message, { wasSent: true, wasSlow: false, ended, cause })
}

export const unanswered = (message: string, of: ConstructorParameters<typeof Unanswered>[1]): SqlError =>
  new SqlError({ reason: new ConnectionError({ message, operation: "query", cause: new Unanswered(message, of) }) })
