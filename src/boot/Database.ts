import { PgClient } from "@effect/sql-pg"
import { Data, Effect, Layer, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrations from "../store/Migrations.ts"

export class DatabaseUnreachable extends Data.TaggedError("DatabaseUnreachable")<{ readonly detail: string }> {
  override get message() {
    return `DATABASE_URL: the database cannot be reached or used: ${this.detail}`
  }
}

/** A pool on the database, migrated. */
export const layer = (url: Redacted.Redacted) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`SELECT 1`
      yield* Migrations.run
    })
  ).pipe(
    Layer.provideMerge(
      PgClient.layer({
        url,
        maxConnections: 12,
        connectTimeout: "5 seconds",
        // A peer that vanished without a word is found out: nothing would ever answer who waits for it.
        keepAlive: "15 seconds",
        applicationName: "trunkline"
      })
    ),
    Layer.catch((error) => Layer.effectContext(Effect.fail(new DatabaseUnreachable({ detail: describe(error) }))))
  )

const describe = (error: unknown): string => {
  const parts: Array<string> = []
  for (let at: unknown = error; at instanceof Error && parts.length < 4; at = "reason" in at ? at.reason : at.cause)
    if (at.message !== "" && !parts.includes(at.message)) parts.push(at.message)
  return parts.join(": ").replaceAll("\n", " ") || String(error)
}
