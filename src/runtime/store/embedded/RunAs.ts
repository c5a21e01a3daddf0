import { chown, stat } from "node:fs/promises"
import { dirname } from "node:path"

/**
 * The user as which Postgres runs. Postgres refuses to be root, so root runs it as `nobody` (uid and gid 65534), which
 * needs no user to be created; any other user runs it as itself.
 */
export interface RunAs {
  /** Null: Postgres runs as our own user. */
  readonly id: number | null
}

const nobody = 65_534

export const current = (): RunAs => ({ id: process.getuid?.() === 0 ? nobody : null })

/** The part of spawn's options that changes the user. */
export const spawnOptions = (runAs: RunAs): { readonly uid?: number; readonly gid?: number } =>
  runAs.id === null ? {} : { uid: runAs.id, gid: runAs.id }

export const give = async (runAs: RunAs, path: string): Promise<void> => {
  if (runAs.id !== null) await chown(path, runAs.id, runAs.id)
}

/** True when that user may pass through `directory` and everything above it (a home of mode 0700 stops `nobody`). */
export const canTraverse = async (runAs: RunAs, directory: string): Promise<boolean> => {
  if (runAs.id === null) return true
  for (let path = directory; ; path = dirname(path)) {
    if (((await stat(path)).mode & 0o001) === 0) return false
    if (path === dirname(path)) return true
  }
}
