import { copyFile, stat, truncate } from "node:fs/promises"
import { Effect } from "effect"

/** A log that is longer is begun anew; what it held is kept beside it, in place of what was kept before. */
const limitBytes = 8 * 1024 * 1024
const look = "10 seconds"

export const previous = (logFile: string): string => `${logFile}.previous`

/**
 * Bounds the server's log, which it appends to by itself: so it also writes there when we have died. The log and the
 * one before it are together at most twice `limit` and what was written between two looks; lines that are written
 * during the change are lost. On a full disk the old log is not kept: room comes first.
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
