import { createReadStream } from "node:fs"
import { copyFile, link, mkdir, open, rename, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect, Layer, Stream } from "effect"
import { type LocalFile, Storage, StorageError } from "../Storage.ts"

const chunkBytes = 65_536

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : String(error)

const failed = (error: unknown): StorageError => {
  const code = codeOf(error)
  return new StorageError({ reason: code === "ENOENT" ? "missing" : "unavailable", detail: code })
}
const attempt = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: failed })

const isThere = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === "ENOENT") return false
      throw error
    }
  )

/** Writes a file to the disk, before it counts as stored. */
const sync = async (path: string): Promise<void> => {
  const file = await open(path, "r")
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Objects are files under `root`, each in place when it is complete: it is linked or copied beside its place, written
 * to the disk and renamed. So the source file may be deleted afterwards, but not changed.
 */
export const layer = (root: string) =>
  Layer.succeed(Storage, {
    put: (key: string, { path }: LocalFile) =>
      attempt(async () => {
        const place = join(root, key)
        const beside = `${place}.part`
        await mkdir(dirname(place), { recursive: true, mode: 0o700 })
        try {
          await rm(beside, { force: true })
          await link(path, beside).catch(async () => copyFile(path, beside))
          await sync(beside)
          await rename(beside, place)
          // When the same file had been stored before, both names are one file, and `rename` leaves both (POSIX).
          await rm(beside, { force: true })
          await sync(dirname(place))
        } catch (error) {
          await rm(beside, { force: true })
          throw error
        }
      }),
    open: (key, range) =>
      Effect.gen(function* () {
        const path = join(root, key)
        const { size } = yield* attempt(async () => stat(path))
        const { from, to } = range ?? { from: 0, to: size - 1 }
        const file = yield* Effect.acquireRelease(
          Effect.sync(() =>
            createReadStream(path, { start: from, end: Math.max(from, to), highWaterMark: chunkBytes })
          ),
          (stream) => Effect.sync(() => void stream.destroy())
        )
        // Without this listener, an error before the first read would be unhandled.
        file.on("error", () => undefined)
        return { sizeBytes: size, body: size === 0 ? Stream.empty : Stream.fromAsyncIterable(file, failed) }
      }),
    move: (from, to) =>
      attempt(async () => {
        const [old, place] = [join(root, from), join(root, to)]
        if (!(await isThere(old)) && (await isThere(place))) return
        await mkdir(dirname(place), { recursive: true, mode: 0o700 })
        await rename(old, place)
      }),
    remove: (key) => attempt(async () => rm(join(root, key), { force: true }))
  })
