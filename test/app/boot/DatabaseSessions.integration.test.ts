import * as PgClient from "@effect/sql-pg/PgClient"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../../src/app/boot/Database.ts"
import { CommitClient } from "../../../src/runtime/store/CommitClient.ts"
import { ListClient } from "../../../src/runtime/store/list/ListClient.ts"
import { OwnerConnection } from "../../../src/runtime/store/owner/OwnerSession.ts"
import { UpkeepClient } from "../../../src/runtime/store/UpkeepClient.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

/** Defaults that a role or a database may have. */
const defaults = {
  default_transaction_isolation: "serializable",
  default_transaction_read_only: "on",
  default_transaction_deferrable: "on",
  client_encoding: "LATIN1",
  lock_timeout: "1",
  TimeZone: "Pacific/Chatham",
  DateStyle: "German",
  IntervalStyle: "iso_8601",
  bytea_output: "escape",
  extra_float_digits: "-5"
}

const settings = `SELECT current_setting('transaction_isolation') AS isolation,
  current_setting('client_encoding') AS encoding, current_setting('TimeZone') AS zone,
  '2026-02-01'::date::text AS date, current_setting('transaction_deferrable') AS deferrable,
  current_setting('lock_timeout') <> '1ms' AS patient, current_setting('statement_timeout') AS bound,
  current_setting('default_transaction_read_only') AS reads`

const right = {
  isolation: "read committed",
  encoding: "UTF8",
  zone: "UTC",
  date: "2026-02-01",
  deferrable: "off",
  patient: true
}

describe("The sessions of the service", () => {
  it.live(
    "have the settings that it relies on, whatever the role and the database default to",
    () =>
      Effect.gen(function* () {
        const url = yield* TestDatabase.empty
        const name = new URL(Redacted.value(url)).pathname.slice(1)
        const admin = yield* Layer.build(PgClient.layer({ url, maxConnections: 1 }))
        const alter = Object.entries(defaults).map(([of, value]) => `ALTER DATABASE ${name} SET ${of} = '${value}'`)
        yield* Effect.provide(
          Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.forEach(alter, (text) => sql.unsafe(text))),
          admin
        )
        const context = yield* Layer.build(Layer.fresh(Database.layer({ url })))
        yield* Effect.gen(function* () {
          yield* Database.migrated
          const sql = yield* SqlClient.SqlClient
          const [commits, lists, upkeep] = [yield* CommitClient, yield* ListClient, yield* UpkeepClient]
          const expected = [
            [sql, "1min", "on"],
            [commits, "1min", "off"],
            [lists, "5s", "on"],
            [upkeep, "0", "off"]
          ] as const
          for (const [client, bound, reads] of expected) {
            if (client === null) throw new Error("a client is missing")
            expect(yield* client.unsafe(settings)).toEqual([{ ...right, bound, reads }])
            if (client !== lists)
              expect(yield* client.withTransaction(client.unsafe(settings))).toEqual([{ ...right, bound, reads }])
          }
          const owner = yield* (yield* OwnerConnection) ?? Effect.die(new Error("the owner has no connection"))
          expect(yield* owner.executeUnprepared(settings, [], undefined)).toEqual([
            { ...right, bound: "1min", reads: "off" }
          ])
        }).pipe(Effect.provide(context))
      }).pipe(Effect.scoped),
    60_000
  )
})
