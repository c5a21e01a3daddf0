import { Data, Effect, Result, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Monotonic from "../../domain/time/Monotonic.ts"
import { Starting } from "../../runtime/process/Starting.ts"
import * as Outage from "../../runtime/store/Outage.ts"
import type { Address } from "../../runtime/store/postgres/Address.ts"
import * as DatabaseFacts from "../../runtime/store/postgres/DatabaseFacts.ts"
import * as DatabaseError from "./DatabaseError.ts"

/** The database lacks something on which the service relies. */
export class DatabaseUnsuitable extends Data.TaggedError("DatabaseUnsuitable")<{ readonly detail: string }> {
  override get message() {
    return `DATABASE_URL: ${this.detail}`
  }
}

/** The oldest version that the tests were run with. */
const oldest = 14
/** The connections of one process at most, those to a lost database too. */
const connections = 24

/** Why the service cannot use this database, and what to do; null: it can. */
export const refusal = ({ pooling, server }: DatabaseFacts.Facts): string | null => {
  if (DatabaseFacts.isShared(pooling))
    return (
      "a pooler gives one connection the sessions of several (PgBouncer in transaction or statement mode): " +
      "name Postgres itself, or set pool_mode = session for this database"
    )
  if (pooling.leaks)
    return (
      "a pooler hands a session on with the settings of its last user: set server_reset_query = DISCARD ALL, " +
      "or name Postgres itself"
    )
  if (server === null) return "the database does not answer what it is: name a Postgres"
  const { database, encoding, foreignOwner, role, schema, unsettled, version } = server
  if (version < oldest * 10_000)
    return `the server is Postgres ${Math.floor(version / 10_000)}: upgrade it to ${oldest} or later`
  if (server.isStandby) return "the server is a standby, which takes no writes: name the primary, or promote it"
  if (encoding !== "UTF8")
    return `the database ${database} has the encoding ${encoding}: create one with ENCODING 'UTF8' TEMPLATE template0`
  if (unsettled.length > 0)
    return `a session does not keep its settings (${unsettled.join(", ")}): name Postgres itself, without a proxy`
  if (!server.locksExclude)
    return "two sessions get the same advisory lock, so two processes could own the database: name a Postgres"
  if (schema === null)
    return `no schema of the search_path exists: CREATE SCHEMA, or ALTER ROLE ${role} SET search_path to one that does`
  if (!server.mayCreate) return `the role ${role} may not create tables: GRANT CREATE ON SCHEMA ${schema} TO ${role}`
  if (foreignOwner !== null)
    return `the tables belong to the role ${foreignOwner}: connect as that role, or GRANT ${foreignOwner} TO ${role}`
  return null
}

/** Lines for the log about a database that can be used, but has a weakness. */
export const warnings = ({ server }: DatabaseFacts.Facts): ReadonlyArray<string> =>
  server === null
    ? []
    : [
        ...server.unsafe.map(
          (name) => `${name} is off in the database: a crash of its machine loses what was answered`
        ),
        ...(server.connections < connections
          ? [
              `the database allows this role ${server.connections} connections, and a busy process uses up to ` +
                `${connections}: requests get 503 when there is none`
            ]
          : [])
      ]

const isPassing = (error: SqlError): boolean =>
  Outage.is(error) && error.reason._tag !== "AuthenticationError" && DatabaseError.advice(error) === null

/** How long a start waits for a database that is away, or is still a standby. */
const waitMs = 60_000

/**
 * Completes when the service can use the database, with lines for the log about its weaknesses: a start that is refused
 * afterwards reports its cause alone. A database that is away, or is a standby that may be promoted, is asked again for
 * a minute.
 */
export const suitable = Effect.fnUntraced(function* (
  address: Address
): Effect.fn.Return<ReadonlyArray<string>, DatabaseUnsuitable | DatabaseError.DatabaseUnreachable, Scope.Scope> {
  const giveUpAt = (yield* Monotonic.now) + waitMs
  const waits = (yield* Starting).awaits("the database")
  yield* Effect.addFinalizer(() => Effect.sync(waits))
  let awaited = ""
  for (;;) {
    const answer = yield* Effect.result(DatabaseFacts.read(address))
    const isLate = (yield* Monotonic.now) >= giveUpAt
    if (Result.isFailure(answer)) {
      const detail = DatabaseError.describe(answer.failure)
      if (isLate || !isPassing(answer.failure))
        return yield* new DatabaseError.DatabaseUnreachable({ name: "DATABASE_URL: the database", detail })
      if (awaited !== detail) yield* Effect.logInfo("the database cannot be reached yet", detail)
      awaited = detail
    } else {
      const detail = refusal(answer.success)
      if (detail === null) return warnings(answer.success)
      if (isLate || answer.success.server?.isStandby !== true) return yield* new DatabaseUnsuitable({ detail })
      if (awaited !== detail) yield* Effect.logInfo("the start waits for the database to be promoted")
      awaited = detail
    }
    yield* Effect.sleep("500 millis")
  }
}, Effect.scoped)
