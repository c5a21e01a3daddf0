import { execFile } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import { mkdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { Effect, Redacted, Schema } from "effect"
import type { Binaries } from "./Binaries.ts"
import { because, EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import type { OwnedDirectory } from "./OwnerFile.ts"
import * as RunAs from "./RunAs.ts"

/** An initialised Postgres data directory, and the password of its only user. */
export interface Cluster {
  readonly directory: string
  readonly password: Redacted.Redacted
}

export const user = "trunkline"

/**
 * `DATA_DIR/postgres.json`, mode 0600: the place of the cluster and its password. Without it the data cannot be opened.
 */
const Record = Schema.fromJsonString(
  Schema.Struct({
    /** Relative to `DATA_DIR` when inside it, so that the directory can be moved; otherwise absolute. */
    cluster: Schema.String,
    password: Schema.String,
    initialised: Schema.Boolean
  })
)
type Record = typeof Record.Type

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false
  )

const store = async (path: string, record: Record): Promise<void> => {
  await writeFile(`${path}.new`, Schema.encodeSync(Record)(record), { mode: 0o600, flush: true })
  await rename(`${path}.new`, path)
}

/** The choice is made once and recorded, because a later change of permissions must not make the data look gone. */
const choosePlace = async (owned: OwnedDirectory, runAs: RunAs.RunAs, durableRoot: string): Promise<string> => {
  if (await RunAs.canTraverse(runAs, owned.path)) return "postgres"
  const hash = createHash("sha256")
    .update(await realpath(owned.path))
    .digest("hex")
  return join(durableRoot, hash.slice(0, 16), "postgres")
}

/** Initialises beside the place and renames: a crash in the middle leaves nothing that looks like a cluster. */
const initdb = async (
  binaries: Binaries,
  runAs: RunAs.RunAs,
  directory: string,
  password: string,
  signal: AbortSignal
): Promise<void> => {
  const unfinished = `${directory}.new`
  const passwordFile = `${directory}.password`
  try {
    await rm(unfinished, { recursive: true, force: true })
    await rm(passwordFile, { force: true })
    await mkdir(dirname(directory), { recursive: true, mode: 0o711 })
    await mkdir(unfinished, { mode: 0o700 })
    await RunAs.give(runAs, unfinished)
    await writeFile(passwordFile, password, { mode: 0o600, flag: "wx" })
    await RunAs.give(runAs, passwordFile)
    await new Promise<void>((done, fail) => {
      execFile(
        binaries.initdb,
        // Every argument is given, so that no PGDATA or locale of the environment decides anything.
        [
          ["-D", unfinished, "-U", user, `--pwfile=${passwordFile}`, "--auth=scram-sha-256"],
          ["--locale=C", "--encoding=UTF8", "--no-instructions"]
        ].flat(),
        { cwd: "/", env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" }, signal, ...RunAs.spawnOptions(runAs) },
        (error, _stdout, stderr) =>
          error === null ? done() : fail(new Error(stderr.trim().replaceAll("\n", " ") || error.message))
      )
    })
    await rename(unfinished, directory)
  } finally {
    await rm(passwordFile, { force: true })
  }
}

const unusable = (detail: string) => new EmbeddedPostgresError({ reason: "cluster_unusable", detail })

/**
 * Opens the cluster of `DATA_DIR`, and initialises it on first use.
 *
 * It is kept in `DATA_DIR/postgres`. When we run as root under a directory that other users cannot pass through, it is
 * kept in `<durableRoot>/<hash of DATA_DIR>/postgres`. A recorded cluster that is missing, or one without its record,
 * is an error; an empty one never replaces it.
 */
export const open = Effect.fnUntraced(function* (
  owned: OwnedDirectory,
  binaries: Binaries,
  runAs: RunAs.RunAs,
  durableRoot: string
): Effect.fn.Return<Cluster, EmbeddedPostgresError> {
  const attempt = <A>(evaluate: () => Promise<A>) =>
    Effect.tryPromise({ try: evaluate, catch: (cause) => unusable(because(cause)) })
  const path = join(owned.path, "postgres.json")

  const text = yield* attempt(async () => ((await exists(path)) ? readFile(path, "utf8") : undefined))
  let record: Record
  if (text === undefined) {
    record = {
      cluster: yield* attempt(() => choosePlace(owned, runAs, durableRoot)),
      password: randomBytes(24).toString("base64url"),
      initialised: false
    }
    const directory = resolve(owned.path, record.cluster)
    if (yield* attempt(() => exists(directory)))
      return yield* unusable(`${directory} holds data, but its password file ${path} is missing; restore it`)
    yield* attempt(() => store(path, record))
  } else {
    record = yield* Schema.decodeEffect(Record)(text).pipe(
      Effect.mapError(() => unusable(`${path} is damaged; restore it`))
    )
  }

  const directory = resolve(owned.path, record.cluster)
  if (!record.initialised) {
    // A crash between the rename and the record below leaves a finished cluster; its password is the recorded one.
    if (!(yield* attempt(() => exists(directory))))
      yield* Effect.tryPromise({
        // A start that is given up leaves no program that still makes a cluster.
        try: (signal) => initdb(binaries, runAs, directory, record.password, signal),
        catch: (cause) =>
          new EmbeddedPostgresError({ reason: "initdb_failed", detail: `initdb failed: ${because(cause)}` })
      })
    yield* attempt(() => store(path, { ...record, initialised: true }))
  } else if (!(yield* attempt(() => exists(directory))))
    return yield* unusable(`its data directory ${directory} is gone; restore it, or remove ${path} to start empty`)

  return { directory, password: Redacted.make(record.password) }
})
