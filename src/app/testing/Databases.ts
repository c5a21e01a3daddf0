import { chmod, mkdir, readdir, stat } from "node:fs/promises"
import { createHash, randomBytes } from "node:crypto"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import * as EmbeddedPostgres from "../../runtime/store/embedded/EmbeddedPostgres.ts"
import * as OwnerFile from "../../runtime/store/embedded/OwnerFile.ts"

/** A Postgres server for the tests of this process. */
interface Server {
  readonly url: string
  readonly release: () => Promise<void>
}

const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)

/** The most clusters that tests of several processes can use at once. */
const maxClusters = 64
const prefix = "trunkline_run_"

/**
 * Starts a Postgres of our own. Its cluster stays in the temporary directory and is used again, so that only the first
 * start creates it; one that a dead process left running is taken over.
 */
const launch = async (): Promise<Server> => {
  const root = join(tmpdir(), `trunkline-testing-${process.getuid?.() ?? 0}`)
  await mkdir(root, { recursive: true })
  await chmod(root, 0o711)
  for (let n = 0; ; n++) {
    const scope = Scope.makeUnsafe()
    let quit: () => unknown = () => undefined
    const attempt = OwnerFile.acquire(join(root, String(n))).pipe(
      Effect.flatMap((owned) =>
        EmbeddedPostgres.start(owned, {
          onLaunched: (ends) => {
            quit = ends
          }
        })
      ),
      Effect.provideService(Scope.Scope, scope),
      Effect.map(({ url }) => Redacted.value(url)),
      Effect.catchTag("DataDirInUse", (inUse) => (n < maxClusters ? Effect.succeed(null) : Effect.fail(inUse)))
    )
    const url = await run(attempt).catch(async (error: unknown) => {
      await run(Scope.close(scope, Exit.void))
      throw error
    })
    if (url === null) {
      await run(Scope.close(scope, Exit.void))
      continue
    }
    // Stops the server when the process ends without having released it.
    const onExit = () => void quit()
    process.once("exit", onExit)
    const left = await query(url, `SELECT datname AS name FROM pg_database WHERE starts_with(datname, '${prefix}')`)
    for (const { name } of left) await query(url, `DROP DATABASE "${name}" WITH (FORCE)`)
    return {
      url,
      release: async () => {
        process.off("exit", onExit)
        await run(Scope.close(scope, Exit.void))
      }
    }
  }
}

let shared: { readonly server: Promise<Server>; users: number } | null = null
/** Completes when a stopping server has stopped, because the next start waits for that. */
let stopping: Promise<void> = Promise.resolve()

/** The server at `databaseUrl`, or one of our own, which runs until its last user has released it. */
export const acquire = async (databaseUrl: string | null): Promise<Server> => {
  if (databaseUrl !== null) return { url: databaseUrl, release: () => Promise.resolve() }
  shared ??= { server: stopping.then(launch), users: 0 }
  const mine = shared
  mine.users++
  const release = async (): Promise<void> => {
    if (--mine.users > 0) return
    if (shared === mine) shared = null
    stopping = mine.server.then(({ release: stop }) => stop()).catch(() => undefined)
    await stopping
  }
  try {
    const { url } = await mine.server
    return { url, release }
  } catch (error) {
    await release()
    throw error
  }
}

type Row = { readonly [column: string]: string }

/** A connection of our own beside those of the service. */
export const connect = async (url: string) => {
  const scope = Scope.makeUnsafe()
  const layer = PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
  const built = await run(Effect.provideService(Layer.build(layer), Scope.Scope, scope))
  const sql = Context.get(built, PgClient.PgClient)
  return {
    query: (text: string): Promise<ReadonlyArray<Row>> => run(sql.unsafe<Row>(text)),
    close: (): Promise<void> => run(Scope.close(scope, Exit.void))
  }
}

/** Runs one statement over a connection of its own. */
export const query = async (url: string, text: string): Promise<ReadonlyArray<Row>> => {
  const connection = await connect(url)
  try {
    return await connection.query(text)
  } finally {
    await connection.close()
  }
}

const at = (url: string, database: string): string => {
  const other = new URL(url)
  other.pathname = `/${database}`
  return other.href
}

/** Changes with every file of the program, so that a template of another version is not used. */
const version = async (): Promise<string> => {
  const root = new URL("../..", import.meta.url).pathname
  const hash = createHash("sha256")
  const names = (await readdir(root, { recursive: true })).filter((name) => name.endsWith(".ts")).toSorted()
  for (const name of names) {
    const { mtimeMs, size } = await stat(join(root, name))
    hash.update(`${name} ${size} ${mtimeMs}\n`)
  }
  return hash.digest("hex").slice(0, 16)
}

/**
 * The database that each start gets a copy of: prepared once for a server and version of the program, by the first
 * process that needs it. `prepare` fills an empty database and returns a description.
 */
const template = async (server: string, prepare: (url: string) => Promise<string>) => {
  const name = `trunkline_template_${await version()}`
  const known = async () => {
    const [row] = await query(
      server,
      `SELECT shobj_description(oid, 'pg_database') AS told FROM pg_database WHERE datname = '${name}'`
    )
    return row?.["told"] ?? null
  }
  const told = await known()
  if (told !== null) return { name, told }
  const draft = `${prefix}${randomBytes(6).toString("hex")}`
  await create(server, draft, null)
  const made = await prepare(at(server, draft))
  try {
    await query(server, `ALTER DATABASE ${draft} RENAME TO ${name}`)
    await query(server, `COMMENT ON DATABASE ${name} IS '${made.replaceAll("'", "''")}'`)
    return { name, told: made }
  } catch (error) {
    // Another process was first.
    await query(server, `DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`)
    for (let waited = 0; waited < 50; waited++) {
      const theirs = await known()
      if (theirs !== null) return { name, told: theirs }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw error
  }
}

const create = async (server: string, name: string, of: string | null): Promise<void> => {
  const copy = of === null ? "" : ` TEMPLATE ${of} STRATEGY WAL_LOG`
  for (let attempt = 1; ; attempt++)
    try {
      await query(server, `CREATE DATABASE ${name}${copy}`)
      break
    } catch (error) {
      // Two concurrent copies of one template can block each other.
      if (attempt === 10) throw error
      await new Promise((resolve) => setTimeout(resolve, 50 * attempt))
    }
  // The tests are about the flow, not the disk.
  await query(server, `ALTER DATABASE ${name} SET synchronous_commit = off`)
}

/** A new, prepared database; `told` is the description from its preparation. */
export const fresh = async (server: string, prepare: (url: string) => Promise<string>) => {
  const { name: of, told } = await template(server, prepare)
  const name = `${prefix}${randomBytes(6).toString("hex")}`
  await create(server, name, of)
  return {
    url: at(server, name),
    told,
    drop: async (): Promise<void> => {
      await query(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    }
  }
}
