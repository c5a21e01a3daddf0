import { Context, Effect, Layer } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import { CommitClient } from "../../runtime/store/CommitClient.ts"
import { connections, ListClient } from "../../runtime/store/list/ListClient.ts"
import * as Migrations from "../../runtime/store/Migrations.ts"
import { OwnerConnection } from "../../runtime/store/owner/OwnerSession.ts"
import type { Address } from "../../runtime/store/postgres/Address.ts"
import * as PostgresClient from "../../runtime/store/postgres/PostgresClient.ts"
import * as UnlimitedClient from "../../runtime/store/postgres/UnlimitedClient.ts"
import { UpkeepClient } from "../../runtime/store/UpkeepClient.ts"
import * as DatabaseError from "./DatabaseError.ts"
import { WriteFence } from "../../runtime/store/owner/WriteFence.ts"

/** The database as messages name it. Only a database that a variable leads to is named by that variable. */
const DatabaseName = Context.Reference<string>("trunkline/boot/DatabaseName", {
  defaultValue: () => "DATABASE_URL: the database"
})

/** Upkeep has no limit, because an index on a big table may take long. */
const upkeep = { statement_timeout: "0", synchronous_commit: "off" } as const

/**
 * Rows are found by an index, whatever the planner believes of a table that has grown since its last analysis.
 * Otherwise it would read the whole table until the next one.
 */
const indexed = { enable_seqscan: "off", enable_bitmapscan: "off", jit: "off" } as const

/** The settings of the connections for lists: a slow statement is given up, and nothing is written there. */
const lists = { ...indexed, statement_timeout: "5000" } as const

/**
 * A pool for requests on the database, and separate connections for the journal, lists, upkeep and the owner. Fails
 * when the database cannot be reached, or is of a newer version or of 0.1; its owner migrates it (`migrated`).
 */
export const layer = (
  address: Address,
  {
    name = "DATABASE_URL: the database",
    ...work
  }: Pick<PostgresClient.Options, "onWork"> & {
    readonly name?: string
  } = {}
) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`SELECT 1`
      yield* Migrations.check
    })
  ).pipe(
    Layer.provideMerge(
      Layer.effect(
        CommitClient,
        PostgresClient.make({
          ...work,
          ...address,
          name: "journal",
          maxConnections: 5,
          writes: "own",
          settings: indexed
        })
      ).pipe(Layer.provide(Reactivity.layer))
    ),
    Layer.provideMerge(
      Layer.effect(UpkeepClient, UnlimitedClient.make(address, upkeep)).pipe(Layer.provide(Reactivity.layer))
    ),
    Layer.provideMerge(
      Layer.effect(
        ListClient,
        PostgresClient.make({
          ...work,
          ...address,
          name: "lists",
          maxConnections: connections,
          writes: "none",
          settings: lists
        })
      ).pipe(Layer.provide(Reactivity.layer))
    ),
    Layer.provideMerge(
      PostgresClient.layer({ ...work, ...address, name: "requests", maxConnections: 12, writes: "fenced" })
    ),
    Layer.provideMerge(WriteFence.layer),
    Layer.catch((error) => Layer.effectContext(Effect.fail(unusable(name, error)))),
    Layer.merge(Layer.succeed(OwnerConnection, ownerConnection(address))),
    Layer.merge(Layer.succeed(DatabaseName, name))
  )

/**
 * The owner's statements are heartbeats, which need not wait for the disk, because the next one replaces a lost one.
 */
const ownerConnection = (address: Address) =>
  UnlimitedClient.connection(address, { synchronous_commit: "off" }, " owner")

/** Runs the effect over the connection for upkeep, where no statement has a time limit. */
export const unhurried = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(UpkeepClient, (sql) =>
    sql === null ? effect : Effect.provideService(effect, SqlClient.SqlClient, sql)
  )

export const migrated = Effect.flatMap(DatabaseName, (name) =>
  Effect.mapError(unhurried(Migrations.run), (error) => unusable(name, error))
)

const unusable = (
  name: string,
  error: unknown
): DatabaseError.DatabaseUnreachable | Migrations.SchemaUnknown | Migrations.SchemaOf01 =>
  error instanceof Migrations.SchemaUnknown || error instanceof Migrations.SchemaOf01
    ? error
    : new DatabaseError.DatabaseUnreachable({ name, detail: DatabaseError.describe(error) })
