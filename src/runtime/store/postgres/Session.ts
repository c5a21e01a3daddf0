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

/** Begins a transaction of a session that is read-only outside of transactions. */
export const beginWriting = "BEGIN READ WRITE"

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
    const answer = this.#bounded(this.#pg.query(text, parameters, prepare))
    return text === beginWriting ? Effect.mapError(answer, ofStandby) : answer
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
  if (error.reason._tag !== "ConnectionError" && !endedByServer.test(codeOf(error))) return error
  return unanswered(error.message, { wasSent: true, wasSlow: false, ended, cause })
}

const codeOf = ({ reason: { cause } }: SqlError): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""

/**
 * A standby refuses to begin a transaction that writes as "feature not supported" (0A000). Any other statement gets
 * that code for a fault of ours. So the error gets the code that a standby gives to a statement that writes (25006),
 * for which `Outage.is` holds.
 */
const ofStandby = (error: SqlError): SqlError =>
  codeOf(error) === "0A000"
    ? new SqlError({
        reason: new UnknownError({
          message: "the database is a standby, which takes no writes",
          operation: "begin",
          cause: Object.assign(new Error(error.message), { code: "25006" })
        })
      })
    : error

export const unanswered = (message: string, of: ConstructorParameters<typeof Unanswered>[1]): SqlError =>
  new SqlError({ reason: new ConnectionError({ message, operation: "query", cause: new Unanswered(message, of) }) })
