import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"

/**
 * A fresh `DATA_DIR`, removed with its scope. Its mode is 0711, so that the cluster is inside it as root too: under the
 * 0700 of a bare `mkdtemp` it would go to `/var/lib/trunkline` and stay there.
 */
export const make = Effect.acquireRelease(
  Effect.promise(async () => {
    const path = await mkdtemp(join(tmpdir(), "trunkline-"))
    await chmod(path, 0o711)
    return path
  }),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)
