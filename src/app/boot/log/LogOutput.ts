import { Data, Effect } from "effect"
import { type FileHandle, open, stat } from "node:fs/promises"
import type { Writable } from "node:stream"

/**
 * Where the lines of the log go. Writing never waits and never fails: lines that cannot be written (their reader has
 * gone, the disk is full) or for which more than `limitBytes` would wait, are lost and counted.
 */
export interface LogOutput {
  readonly write: (lines: ReadonlyArray<string>) => void
  /** Counts the lines that were lost so far. */
  readonly lost: () => number
  /** Whether the last attempt to write succeeded. */
  readonly works: () => boolean
  /** Resolves when the lines that wait are written or lost. */
  readonly flushed: () => Promise<void>
}

/** A reader that has stopped reading may miss as much as this; the rest is lost. */
const limitBytes = 4 * 1024 * 1024

/** `LOG_FILE` cannot be written at the start. */
class LogFileUnusable extends Data.TaggedError("LogFileUnusable")<{
  readonly path: string
  readonly detail: string
}> {
  override get message() {
    return `LOG_FILE ${this.path} cannot be written: ${this.detail}`
  }
}

/**
 * Writes to a stream of the process. A reader that comes back (a named pipe, a disk with space again) gets the lines
 * from then on.
 */
export const toStream = (stream: Writable, limit = limitBytes): LogOutput => {
  let lost = 0
  let works = true
  let waiting = 0
  let onIdle: () => void = () => undefined
  const lose = (count: number) => {
    lost += count
    works = false
  }
  // Each failure also reaches the callback of its write, which counts the lines.
  stream.on("error", () => undefined)
  return {
    write: (lines) => {
      const text = `${lines.join("\n")}\n`
      if (stream.writableLength + text.length > limit) return lose(lines.length)
      waiting++
      stream.write(text, (error) => {
        waiting--
        if (error === null || error === undefined) works = true
        else lose(lines.length)
        if (waiting === 0) onIdle()
      })
    },
    lost: () => lost,
    works: () => works,
    flushed: () => (waiting === 0 ? Promise.resolve() : new Promise((done) => (onIdle = done)))
  }
}

/**
 * Appends to a file. It looks before each write whether the path still leads to the open file, so that a rotation that
 * moves the file needs no signal; a rotation that copies and truncates it works because lines are appended.
 */
export const toFile = (path: string, limit = limitBytes): Effect.Effect<LogOutput, LogFileUnusable> =>
  Effect.map(
    Effect.tryPromise({
      try: () => open(path, "a", 0o640),
      catch: (cause) => new LogFileUnusable({ path, detail: cause instanceof Error ? cause.message : String(cause) })
    }),
    (first) => appendTo(path, first, limit)
  )

const appendTo = (path: string, first: FileHandle, limit: number): LogOutput => {
  let file: FileHandle | null = first
  let waiting: Array<string> = []
  let waitingBytes = 0
  let lost = 0
  let works = true
  let writing: Promise<void> | null = null

  const current = async (): Promise<FileHandle> => {
    if (file !== null) {
      const [ours, there] = await Promise.all([file.stat(), stat(path).catch(() => null)])
      if (there !== null && there.ino === ours.ino && there.dev === ours.dev) return file
      await close()
    }
    file = await open(path, "a", 0o640)
    return file
  }
  const close = async (): Promise<void> => {
    const before = file
    file = null
    await before?.close().catch(() => undefined)
  }

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const lines = waiting
      const bytes = waitingBytes
      waiting = []
      try {
        await (await current()).appendFile(`${lines.join("\n")}\n`)
        works = true
      } catch {
        lost += lines.length
        works = false
        await close()
      }
      waitingBytes -= bytes
    }
    writing = null
  }

  return {
    write: (lines) => {
      const bytes = lines.reduce((sum, line) => sum + line.length + 1, 0)
      if (waitingBytes + bytes > limit) {
        lost += lines.length
        works = false
        return
      }
      waiting.push(...lines)
      waitingBytes += bytes
      writing ??= writeAll()
    },
    lost: () => lost,
    works: () => works,
    flushed: () => writing ?? Promise.resolve()
  }
}
