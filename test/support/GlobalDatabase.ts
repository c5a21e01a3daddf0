import { type AddressInfo } from "node:net"
import { createServer } from "node:http"
import { mkdtemp, chmod, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Exit, Redacted, References, Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { TestProject } from "vitest/node"
import "./EndsOnSignal.ts"
import * as EmbeddedPostgres from "../../src/runtime/store/embedded/EmbeddedPostgres.ts"
import * as OwnerFile from "../../src/runtime/store/embedded/OwnerFile.ts"
import * as Migrations from "../../src/runtime/store/Migrations.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly databaseBroker: string
  }
}

const name = "test_template"

const query = (url: string, text: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text)).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
  )

/** An empty database of the newest schema, which each test file copies. Migrating takes several times as long. */
const makeTemplate = Effect.fnUntraced(function* (server: string) {
  const url = new URL(server)
  url.pathname = `/${name}`
  yield* query(server, `DROP DATABASE IF EXISTS ${name}`)
  yield* query(server, `CREATE DATABASE ${name}`)
  yield* Migrations.run.pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url.href), maxConnections: 1 })),
    Effect.provideService(References.MinimumLogLevel, "Warn")
  )
  return name
})

/**
 * Starts one Postgres for a whole run of vitest when the first test file asks for it, so a run without a database pays
 * nothing. `TEST_DATABASE_URL` names one that runs already (with a user that may create databases).
 */
export default async function setup(project: TestProject) {
  const scope = Scope.makeUnsafe()
  let directory: string | undefined
  const start = async (): Promise<string> => {
    const given = process.env["TEST_DATABASE_URL"]
    if (given !== undefined) return given
    const made = await mkdtemp(join(tmpdir(), "trunkline-tests-"))
    directory = made
    await chmod(made, 0o711)
    const postgres = OwnerFile.acquire(made).pipe(Effect.flatMap((owned) => EmbeddedPostgres.start(owned)))
    const url = Redacted.value((await Effect.runPromise(Scope.provide(postgres, scope))).url)
    // Nothing in it outlives the run, so it need not survive a crash of the machine.
    for (const text of ["ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"])
      await Effect.runPromise(query(url, text))
    return url
  }
  let started: Promise<string> | undefined
  let template: Promise<string> | undefined
  const answer = async (path: string | undefined): Promise<string> => {
    const server = await (started ??= start())
    if (path !== "/template") return server
    return await (template ??= Effect.runPromise(makeTemplate(server)))
  }
  const broker = createServer((request, response) => {
    answer(request.url).then(
      (text) => response.end(text),
      (cause: unknown) => response.writeHead(500).end(String(cause))
    )
  })
  await new Promise<void>((listening) => broker.listen(0, "127.0.0.1", listening))
  project.provide("databaseBroker", `http://127.0.0.1:${(broker.address() as AddressInfo).port}/`)

  return async () => {
    broker.closeAllConnections()
    broker.close()
    await started?.catch(() => undefined)
    await Effect.runPromise(Scope.close(scope, Exit.void))
    if (directory !== undefined) await rm(directory, { recursive: true, force: true })
  }
}
