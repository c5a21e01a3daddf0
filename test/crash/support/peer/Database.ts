import { readFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Cluster from "../../../../src/runtime/store/embedded/Cluster.ts"

/** The service's database, over a connection of its own. */
export interface Database {
  readonly query: <Row extends object>(text: string, parameters?: ReadonlyArray<unknown>) => Promise<ReadonlyArray<Row>>
  /** Runs `first` in a transaction, `meanwhile` while that transaction is open with its locks, then ends it. */
  readonly holding: <A>(first: string, meanwhile: () => Promise<A>) => Promise<A>
  readonly close: () => Promise<void>
}

export const open = (url: string): Database => {
  const runtime = ManagedRuntime.make(PgClient.layer({ url: Redacted.make(url), maxConnections: 4 }))
  const withSql = <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
    runtime.runPromise(Effect.flatMap(SqlClient.SqlClient, use))
  return {
    query: <Row extends object>(text: string, parameters: ReadonlyArray<unknown> = []) =>
      withSql((sql) => sql.unsafe<Row>(text, parameters)),
    holding: (first, meanwhile) =>
      withSql((sql) => sql.withTransaction(Effect.andThen(sql.unsafe(first), Effect.promise(meanwhile)))),
    close: () => runtime.dispose()
  }
}

/** Breaks the connection by which a process holds the lock of its database. */
export const dropLock = async (database: Database): Promise<void> => {
  await database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  )
}

/** The URL of the embedded Postgres of a running service: each start takes another port. */
export const urlOf = async (dataDir: string): Promise<string> => {
  const record = JSON.parse(await readFile(join(dataDir, "postgres.json"), "utf8")) as {
    readonly cluster: string
    readonly password: string
  }
  const lockFile = await readFile(join(resolve(dataDir, record.cluster), "postmaster.pid"), "utf8")
  const port = lockFile.split("\n")[3] ?? ""
  return `postgres://${Cluster.user}:${record.password}@127.0.0.1:${port}/postgres`
}
