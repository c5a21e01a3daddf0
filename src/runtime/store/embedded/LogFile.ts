import { copyFile, stat, truncate } from "node:fs/promises"
import { Effect } from "effect"

/** A longer log is begun anew. Its content is kept beside it, and replaces the one that was kept before. */
const limitBytes = 8 * 1024 * 1024
const look = "10 seconds"

export const previous = (logFile: string): string => `${logFile}.previous`

/**
 * Bounds the log of the server. The server itself appends to the file, so it can also write after our death. The log
 * and the previous one together have at most twice `limit`, plus the lines that were written between two checks. Lines
 * that are written during the change are lost. On a full disk the previous log is not kept, because free space matters
 * more.
 */
export const bound = (logFile: string, limit = limitBytes) =>
  Effect.promise(() => rotate(logFile, limit)).pipe(Effect.andThen(Effect.sleep(look)), Effect.forever)

export const rotate = async (logFile: string, limit: number): Promise<void> => {
  const size = await stat(logFile).then(
    (found) => found.size,
    () => 0
  )
  if (size <= limit) return
  await copyFile(logFile, previous(logFile)).catch(() => undefined)
  await truncate(logFile)
}
