import * as PgClient from "@effect/sql-pg/PgClient"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PgPool from "@effect/sql-pg/PgPool"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Address, driverConfig } from "./Address.ts"
import * as RowConversion from "./RowConversion.ts"
import { Session } from "./Session.ts"
import * as SessionSettings from "./SessionSettings.ts"

/** A busy machine may take long to connect. Upkeep waits for nothing else, and the owner has a limit of its own. */
const connectTimeout = "60 seconds"

/** A session whose statements have no deadline and no fence. */
const unlimited = (pg: PgConnection.PgConnection): Session =>
  new Session(pg, { ask: (work) => work, ended: Effect.void, writing: null })

/** A client of one connection, which waits for its turn, for each answer and for the server as long as it takes. */
export const make = Effect.fnUntraced(function* (address: Address, settings: SessionSettings.Settings) {
  const { types } = RowConversion.settings
  const pool = yield* PgPool.make({ ...driverConfig(address), connectTimeout, types, maxConnections: 1 })
  const ready = Effect.tap(pool.get, SessionSettings.onFirstUse({ ...SessionSettings.common, ...settings }))
  return yield* SqlClient.make({
    acquirer: Effect.map(ready, unlimited),
    transactionAcquirer: Effect.map(
      Effect.flatMap(ready, (pg) => pg.pin),
      unlimited
    ),
    compiler: PgClient.makeCompiler(),
    transformRows: RowConversion.transformRows,
    driver: "pg",
    prepareTransactionControls: true,
    releaseSavepoint: (savepoint) => `RELEASE SAVEPOINT ${savepoint}`,
    spanAttributes: [["db.system.name", "postgresql"]]
  })
})

/** One connection that is closed with its scope and serves one caller. */
export const connection = Effect.fnUntraced(function* (
  address: Address,
  settings: SessionSettings.Settings,
  nameSuffix: string
) {
  const { types } = RowConversion.settings
  const pg = yield* PgConnection.make({ ...driverConfig(address, nameSuffix), connectTimeout, types })
  yield* SessionSettings.give(pg, { ...SessionSettings.common, ...settings })
  return unlimited(yield* pg.pin)
})
