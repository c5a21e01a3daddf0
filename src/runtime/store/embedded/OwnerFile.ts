import { createHash } from "node:crypto"
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { join, resolve } from "node:path"
import { Effect, Schema, type Scope } from "effect"
import * as ProcessIdentity from "./ProcessIdentity.ts"

/** Proof that this process owns `DATA_DIR` until the scope that acquired it closes. */
export interface OwnedDirectory {
  readonly path: string
  /**
   * Identifies this directory on this machine. When we own the directory, any database owner with this identity is
   * dead. A copy elsewhere has another identity.
   */
  readonly identity: string
  /** Gives the claim up before its scope closes, for a process that ends at once. */
  readonly release: () => Promise<void>
}

/** Another live process owns the directory. Starting a second one on it would make two writers. */
class DataDirInUse extends Schema.TaggedError<DataDirInUse>()("DataDirInUse", {
  dataDir: Schema.String,
  pid: Schema.Int
}) {
  override get message() {
    return `DATA_DIR ${this.dataDir} is in use by the running process ${this.pid}: stop it, or set another DATA_DIR`
  }
}

class DataDirUnusable extends Schema.TaggedError<DataDirUnusable>()("DataDirUnusable", {
  dataDir: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `DATA_DIR ${this.dataDir} cannot be used: ${this.detail}`
  }
}

/**
 * `owner-<pid>-<12 hex digits of the process's identity>`. The name holds everything, so creating the file is atomic.
 */
const ownerName = /^owner-(\d{1,10})-([0-9a-f]{12})$/

const nameOf = (pid: number, identity: ProcessIdentity.ProcessIdentity) =>
  `owner-${pid}-${createHash("sha256").update(identity.start).digest("hex").slice(0, 12)}`

const isLive = async (pid: number, name: string) => {
  const identity = await ProcessIdentity.find(pid)
  return identity !== null && nameOf(pid, identity) === name
}

const claim = async (dataDir: string): Promise<string | DataDirInUse> => {
  const self = await ProcessIdentity.find(process.pid)
  if (self === null) throw new Error("this process cannot find itself in the process table")
  const mine = nameOf(process.pid, self)
  // Only the owner may enter, unless we are root: then Postgres runs as another user, which must be able to pass
  // through.
  await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
  try {
    await writeFile(join(dataDir, mine), "", { flag: "wx", mode: 0o600 })
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "EEXIST")
      return new DataDirInUse({ dataDir, pid: process.pid })
    throw cause
  }
  // The process claims first and then looks: of two processes that start at once the later one sees the earlier one's
  // file, so they never both continue (both may refuse). The name of a dead claim belongs to no other process, so any
  // process may remove it.
  for (const entry of await readdir(dataDir)) {
    const pid = Number(ownerName.exec(entry)?.[1])
    if (entry === mine || !Number.isInteger(pid)) continue
    if (await isLive(pid, entry)) {
      await rm(join(dataDir, mine), { force: true })
      return new DataDirInUse({ dataDir, pid })
    }
    await rm(join(dataDir, entry), { force: true })
  }
  return mine
}

const identityOf = async (path: string): Promise<string> => {
  const { dev, ino } = await stat(path, { bigint: true })
  return createHash("sha256").update(`${hostname()} ${dev} ${ino}`).digest("hex").slice(0, 32)
}

const release = (path: string, claimed: string) => rm(join(path, claimed), { force: true })

/**
 * Makes this process the owner of `DATA_DIR` (created when absent), whether its database is embedded or not.
 *
 * Fails with `DataDirInUse` when a live process owns it, and takes over the claim of a dead one. The claim is a file in
 * the directory that is removed when the scope closes; after kill -9 it stays, and its pid and start time show that its
 * owner is dead. Processes are recognized through the process table, so containers that share a volume do not see one
 * another.
 */
export const acquire = (
  directory: string
): Effect.Effect<OwnedDirectory, DataDirInUse | DataDirUnusable, Scope.Scope> => {
  const path = resolve(directory)
  return Effect.acquireRelease(
    Effect.tryPromise({
      try: () => claim(path),
      catch: (cause) =>
        new DataDirUnusable({ dataDir: path, detail: cause instanceof Error ? cause.message : String(cause) })
    }).pipe(
      Effect.flatMap((claimed) => (typeof claimed === "string" ? Effect.succeed(claimed) : Effect.fail(claimed)))
    ),
    (claimed) => Effect.promise(() => release(path, claimed))
  ).pipe(
    Effect.flatMap((claimed) =>
      Effect.map(
        Effect.promise(() => identityOf(path)),
        (identity) => ({ path, identity, release: () => release(path, claimed) })
      )
    )
  )
}
