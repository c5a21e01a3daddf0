import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Exit, Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { randomInt, randomUUID } from "node:crypto"
import { type Address, driverConfig } from "./Address.ts"
import * as SessionSettings from "./SessionSettings.ts"

/** How a connection leads to server processes. */
export interface Pooling {
  /** The server's process, by pid, for each of several statements of one connection. */
  readonly ours: ReadonlyArray<number>
  /** The same for a second connection, which was open all the while. */
  readonly others: ReadonlyArray<number>
  /** A new connection had a setting that one before it had made for itself. */
  readonly leaks: boolean
}

export interface Server {
  /** As `server_version_num`: 180004 is 18.4. */
  readonly version: number
  readonly encoding: string
  readonly isStandby: boolean
  /** Settings of a session that were not as it had set them a statement before. */
  readonly unsettled: ReadonlyArray<string>
  /** An advisory lock that one session held was refused to another. */
  readonly locksExclude: boolean
  /** The schema in which tables are made; null: there is none. */
  readonly schema: string | null
  readonly mayCreate: boolean
  /** The role of the owner of our tables, when we have not the rights of that role. */
  readonly foreignOwner: string | null
  /** The settings with which a crash of the server loses commits. */
  readonly unsafe: ReadonlyArray<string>
  /** The most connections that we may have at once. */
  readonly connections: number
  readonly role: string
  readonly database: string
}

export interface Facts {
  readonly pooling: Pooling
  /** Null: not read, because sessions are shared with other programs, whom our settings would reach. */
  readonly server: Server | null
}

const mark = "trunkline.session"

const facts = `SELECT current_setting('server_version_num')::int AS version,
  current_setting('server_encoding') AS encoding,
  pg_is_in_recovery() AS "isStandby",
  current_schema()::text AS schema,
  coalesce(has_schema_privilege(current_schema()::text, 'CREATE'), false) AS "mayCreate",
  (SELECT pg_get_userbyid(relowner)::text FROM pg_class
    WHERE oid = to_regclass('effect_sql_migrations') AND NOT pg_has_role(relowner, 'USAGE')) AS "foreignOwner",
  current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
  current_setting('synchronous_commit') AS synchronous_commit,
  (SELECT least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
      nullif(rolconnlimit, -1), nullif(datconnlimit, -1))
    FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()) AS connections,
  current_user::text AS role, current_database()::text AS database`

const rows = (pg: PgConnection.PgConnection, text: string, parameters: ReadonlyArray<unknown> = []) =>
  Effect.map(pg.query(text, parameters, false), (result) => result.rows)

const value = (pg: PgConnection.PgConnection, text: string, parameters: ReadonlyArray<unknown> = []) =>
  Effect.map(rows(pg, text, parameters), ([row]) => row?.["value"])

const pid = (pg: PgConnection.PgConnection) => Effect.map(value(pg, "SELECT pg_backend_pid() AS value"), Number)

/** How often each connection is asked for its server's process. A pool hands out its connections in some order. */
const rounds = 3

const poolingOf = Effect.fnUntraced(function* (
  connect: Effect.Effect<PgConnection.PgConnection, SqlError, Scope.Scope>
) {
  const other = yield* connect
  const scope = yield* Scope.fork(yield* Effect.scope)
  const one = yield* Scope.provide(connect, scope)
  const ours: Array<number> = []
  const others: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    ours.push(yield* pid(one), yield* pid(one))
    others.push(yield* pid(other), yield* pid(other))
  }
  const token = randomUUID()
  yield* rows(one, "SELECT set_config($1, $2, false)", [mark, token])
  yield* Scope.close(scope, Exit.void)
  yield* pid(other)
  const next = yield* connect
  const left = yield* value(next, "SELECT current_setting($1, true) AS value", [mark])
  return { pooling: { ours, others, leaks: left === token } satisfies Pooling, one: next, other }
})

/** True when statements of one connection ran in several processes, or two connections shared one. */
export const isShared = ({ ours, others }: Pooling): boolean =>
  new Set(ours).size > 1 || new Set(others).size > 1 || ours[0] === others[0]

const unsettledOf = Effect.fnUntraced(function* (pg: PgConnection.PgConnection, settings: SessionSettings.Settings) {
  const wanted = Object.entries(settings).filter(([name]) => !name.startsWith("tcp_"))
  const found = yield* rows(
    pg,
    `SELECT name FROM jsonb_each_text($1::text::jsonb) AS given (name, wanted)
     WHERE current_setting(name, true) IS NOT NULL
       AND current_setting(name) <> (CASE name WHEN 'DateStyle' THEN current_setting(name) ELSE wanted END)
       AND NOT (name ~ '(timeout)$' AND current_setting(name)::interval = (wanted || ' ms')::interval)`,
    [JSON.stringify(Object.fromEntries(wanted))]
  )
  return found.map((row) => String(row["name"]))
})

const locksExclude = Effect.fnUntraced(function* (one: PgConnection.PgConnection, other: PgConnection.PgConnection) {
  const key = [randomInt(2 ** 31), randomInt(2 ** 31)]
  const lock = "SELECT pg_try_advisory_lock($1::int, $2::int) AS value"
  const first = yield* value(one, lock, key)
  const second = yield* value(other, lock, key)
  for (const pg of [one, other]) yield* rows(pg, "SELECT pg_advisory_unlock_all()")
  return first === true && second === false
})

/** Reads what the service relies on. Where sessions turn out to be shared, it changes none of their settings. */
export const read = (address: Address): Effect.Effect<Facts, SqlError> =>
  Effect.gen(function* () {
    const { one, other, pooling } = yield* poolingOf(PgConnection.make(driverConfig(address)))
    if (pooling.leaks || isShared(pooling)) return { pooling, server: null }
    const settings = { ...SessionSettings.common, ...SessionSettings.fenced }
    yield* SessionSettings.give(one, settings)
    const unsettled = yield* unsettledOf(one, settings)
    const [row] = (yield* rows(other, facts)) as unknown as ReadonlyArray<
      Omit<Server, "unsettled" | "locksExclude" | "unsafe"> & Readonly<Record<(typeof durability)[number], string>>
    >
    if (row === undefined) return { pooling, server: null }
    const { fsync, full_page_writes, synchronous_commit, ...known } = row
    const durable = { fsync, full_page_writes, synchronous_commit }
    const unsafe = durability.filter((name) => durable[name] === "off")
    return { pooling, server: { ...known, unsettled, unsafe, locksExclude: yield* locksExclude(one, other) } }
  }).pipe(Effect.scoped)

const durability = ["fsync", "full_page_writes", "synchronous_commit"] as const
