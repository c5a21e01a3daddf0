import type * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { serverMs } from "../StatementLimit.ts"

export type Settings = Readonly<Record<string, string>>

/**
 * The settings of every session. The time limits keep it from blocking others for ever, whatever happens to this
 * process. The others are those that a role or a database may have been given otherwise, and on which statements rely.
 */
export const common = {
  statement_timeout: `${serverMs}`,
  idle_in_transaction_session_timeout: "15000",
  lock_timeout: "0",
  // A server that does not know one of these two ignores it.
  idle_session_timeout: "0",
  transaction_timeout: "0",
  tcp_keepalives_idle: "15",
  tcp_keepalives_interval: "5",
  tcp_keepalives_count: "3",
  default_transaction_isolation: "read committed",
  default_transaction_deferrable: "off",
  default_transaction_read_only: "off",
  client_encoding: "UTF8",
  TimeZone: "UTC",
  DateStyle: "ISO, MDY",
  IntervalStyle: "postgres",
  extra_float_digits: "1",
  bytea_output: "hex",
  standard_conforming_strings: "on"
} as const satisfies Settings

/** Raising an epoch may wait for a dead process's statement. No request waits as long as this for a lock. */
export const fenced = { default_transaction_read_only: "on", lock_timeout: "30000" } as const satisfies Settings

const apply = `SELECT count(CASE WHEN current_setting(name, true) IS NOT NULL THEN set_config(name, value, false) END)
  FROM jsonb_each_text($1::text::jsonb) AS given (name, value)`

/** A standby refuses each query of a session that is serializable, as "feature not supported" (0A000). */
const isSerializableStandby = ({ reason: { cause } }: SqlError): boolean =>
  typeof cause === "object" && cause !== null && "code" in cause && cause.code === "0A000"

/** Unlike a query, this needs no snapshot, so a standby runs it in every session. */
const leaveSerializable = "SET default_transaction_isolation = 'read committed'"

/** Gives a session its settings. */
export const give = (pg: PgConnection.PgConnection, settings: Settings): Effect.Effect<void, SqlError> => {
  const given = pg.query(apply, [JSON.stringify(settings)], false)
  return Effect.asVoid(
    Effect.catchIf(given, isSerializableStandby, () => Effect.andThen(pg.query(leaveSerializable, [], false), given))
  )
}

/**
 * Gives each session its settings before its first use. They are not parameters of the connection, because a pooler
 * such as PgBouncer refuses those that it does not know.
 */
export const onFirstUse = (settings: Settings) => {
  const given = new WeakSet<PgConnection.PgConnection>()
  return (pg: PgConnection.PgConnection): Effect.Effect<void, SqlError> =>
    given.has(pg) ? Effect.void : Effect.map(give(pg, settings), () => void given.add(pg))
}
