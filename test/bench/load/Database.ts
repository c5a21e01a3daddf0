import { Effect, Redacted } from "effect"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedPostgres from "../../../src/runtime/store/embedded/EmbeddedPostgres.ts"
import * as OwnerFile from "../../../src/runtime/store/embedded/OwnerFile.ts"

/** An embedded Postgres with the settings of the service (fsync on), in a folder that is deleted with the scope. */
export const fresh = Effect.gen(function* () {
  const directory = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "trunkline-bench-"))),
    (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
  )
  yield* Effect.promise(() => chmod(directory, 0o711))
  const owned = yield* OwnerFile.acquire(directory)
  const { url } = yield* EmbeddedPostgres.start(owned)
  return Redacted.make(Redacted.value(url))
})
