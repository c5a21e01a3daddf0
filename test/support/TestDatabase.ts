import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Layer, Redacted } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import * as Migrations from "../../src/runtime/store/Migrations.ts"
import { OwnerConnection } from "../../src/runtime/store/owner/OwnerSession.ts"
import * as PostgresClient from "../../src/runtime/store/postgres/PostgresClient.ts"
import * as RowConversion from "../../src/runtime/store/postgres/RowConversion.ts"
import { UpkeepClient } from "../../src/runtime/store/UpkeepClient.ts"
import { WriteFence } from "../../src/runtime/store/owner/WriteFence.ts"

/** `""`: the server; `"template"`: the name of the database of the newest schema. */
const ask = (path: "" | "template") =>
  Effect.promise(async () => {
    const response = await fetch(`${inject("databaseBroker")}${path}`)
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    return text
  })

const create = Effect.fnUntraced(function* (as: string) {
  const url = new URL(yield* ask(""))
  const name = `test_${randomBytes(6).toString("hex")}`
  const admin = yield* Layer.build(PgClient.layer({ url: Redacted.make(url.href), maxConnections: 1 }))
  const run = (text: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text)).pipe(Effect.provide(admin), Effect.orDie)
  yield* Effect.acquireRelease(run(`CREATE DATABASE ${name}${as}`), () => run(`DROP DATABASE ${name} WITH (FORCE)`))
  // These tests check the process, not the disk.
  yield* run(`ALTER DATABASE ${name} SET synchronous_commit = off`)
  url.pathname = `/${name}`
  return Redacted.make(url.href)
})

/** A fresh database, not migrated, dropped with the scope; `url` connects to it. */
export const empty = create("")

/** The same with the newest schema. */
export const migrated = Effect.flatMap(ask("template"), (template) => create(` TEMPLATE ${template}`))

/** The connections beside the pool, as the service has them. */
const beside = (url: Redacted.Redacted) =>
  Layer.merge(
    Layer.effect(UpkeepClient, PgClient.make({ ...RowConversion.settings, url, maxConnections: 1 })),
    Layer.succeed(
      OwnerConnection,
      PgClient.makeClient({ ...RowConversion.settings, url }).pipe(
        Effect.flatMap(({ reserve }) => reserve),
        Effect.provide(Reactivity.layer)
      )
    )
  ).pipe(Layer.provide(Reactivity.layer))

const client = (url: Redacted.Redacted, fence: Layer.Layer<never>) =>
  PostgresClient.layer({ url, name: "tests", maxConnections: 10, writes: "fenced" }).pipe(
    Layer.provideMerge(fence),
    Layer.merge(beside(url)),
    Layer.orDie
  )

/**
 * A client of a fresh, migrated database: one for each test file (or `layer` block). Several journals may be built over
 * it, as if it were the client of several processes, so it does not check which process may write.
 */
export const layer = Layer.unwrap(Effect.map(migrated, (url) => client(url, Layer.empty)))

/**
 * The client that one process has of a database (`empty`, `migrated`): when the process loses the journal, it writes
 * nothing.
 */
export const processLayer = (url: Redacted.Redacted) =>
  Layer.effectDiscard(Effect.orDie(Migrations.run)).pipe(Layer.provideMerge(client(url, WriteFence.layer)))
