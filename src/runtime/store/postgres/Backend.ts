import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

/** The server's process behind a connection. The time of its start tells it from another one of the same number. */
export interface Backend {
  readonly pid: number
  /** Epoch seconds, as the server writes them. */
  readonly startedAt: string
}

/** SQL: the `Backend` that runs this statement, as columns `pid` and `"startedAt"`. */
export const columns = `pg_backend_pid() AS pid,
  (SELECT extract(epoch FROM backend_start)::text FROM pg_stat_get_activity(pg_backend_pid())) AS "startedAt"`

/** Takes a backend that still lives out of its statement, and out of the server. */
const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_get_activity($1)
  WHERE extract(epoch FROM backend_start)::text = $2`

const answerWithin = "5 seconds"

/** One statement over a connection of its own: no pool, whose connections may all be lost, stands before it. */
export const alone = (
  config: PgConnection.Config,
  text: string,
  parameters: ReadonlyArray<unknown>
): Effect.Effect<ReadonlyArray<PgConnection.Row>, SqlError> =>
  PgConnection.make(config).pipe(
    Effect.flatMap((connection) => connection.query(text, parameters, false)),
    Effect.map(({ rows }) => rows),
    Effect.scoped
  )

/**
 * Ends the backend, and completes when it is gone. What it did before stands then, and it does nothing more. Fails while
 * the server is away.
 */
export const end = (config: PgConnection.Config, { pid, startedAt }: Backend): Effect.Effect<void, SqlError> =>
  alone(config, terminate, [pid, startedAt]).pipe(
    Effect.timeoutOrElse({ duration: answerWithin, orElse: () => Effect.succeed(stillThere) }),
    Effect.tap((rows) => (rows.length === 0 ? Effect.void : Effect.sleep("50 millis"))),
    Effect.repeat({ while: (rows) => rows.length > 0 }),
    Effect.asVoid
  )

const stillThere: ReadonlyArray<PgConnection.Row> = [{}]
