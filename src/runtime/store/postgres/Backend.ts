import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"

/** The server's process of a connection. The start time distinguishes it from another one with the same pid. */
export interface Backend {
  readonly pid: number
  /** Epoch seconds, in the text that the server writes. */
  readonly startedAt: string
}

/** SQL for the `Backend` that runs this statement, as columns `pid` and `"startedAt"`. */
export const columns = `pg_backend_pid() AS pid,
  (SELECT extract(epoch FROM backend_start)::text FROM pg_stat_get_activity(pg_backend_pid())) AS "startedAt"`

/** Terminates a backend that is still there, together with its statement. */
const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_get_activity($1)
  WHERE extract(epoch FROM backend_start)::text = $2`

const answerWithin = "5 seconds"

/** Runs one statement over a new connection, because all connections of the pool may be lost. */
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
 * Ends the backend, and completes when it is gone. From then on its effects are final. Fails while the server is
 * unreachable.
 */
export const end = (config: PgConnection.Config, { pid, startedAt }: Backend): Effect.Effect<void, SqlError> =>
  alone(config, terminate, [pid, startedAt]).pipe(
    Effect.timeoutOrElse({ duration: answerWithin, orElse: () => Effect.succeed(stillThere) }),
    Effect.tap((rows) => (rows.length === 0 ? Effect.void : Effect.sleep("50 millis"))),
    Effect.repeat({ while: (rows) => rows.length > 0 }),
    Effect.asVoid
  )

const stillThere: ReadonlyArray<PgConnection.Row> = [{}]
