import { readFile } from "node:fs/promises"
import { Effect, Layer, Stream } from "effect"
import { Storage, StorageError } from "../../../src/ports/storage/Storage.ts"

/** A store in memory that records its requests; its next answers can be failures. */
export const make = () => {
  const files = new Map<string, Uint8Array>()
  const asked: Array<string> = []
  let failures: Array<StorageError> = []
  const missing = (key: string) => new StorageError({ reason: "missing", detail: key })
  const ask = <A, E>(what: string, run: Effect.Effect<A, E>): Effect.Effect<A, E | StorageError> =>
    Effect.suspend((): Effect.Effect<A, E | StorageError> => {
      asked.push(what)
      const [failure, ...more] = failures
      if (failure === undefined) return run
      failures = more
      return Effect.fail(failure)
    })
  const service = Storage.of({
    put: (key, { path }) =>
      ask(
        `put ${key}`,
        Effect.promise(async () => void files.set(key, await readFile(path)))
      ),
    open: (key, range) =>
      ask(
        `open ${key}`,
        Effect.suspend(() => {
          const bytes = files.get(key)
          if (bytes === undefined) return Effect.fail(missing(key))
          const part = range === null ? bytes : bytes.subarray(range.from, range.to + 1)
          return Effect.succeed({ sizeBytes: bytes.length, body: Stream.make(part) })
        })
      ),
    move: (from, to) =>
      ask(
        `move ${from} ${to}`,
        Effect.suspend(() => {
          const bytes = files.get(from)
          if (bytes === undefined) return files.has(to) ? Effect.void : Effect.fail(missing(from))
          files.delete(from)
          files.set(to, bytes)
          return Effect.void
        })
      ),
    remove: (key) =>
      ask(
        `remove ${key}`,
        Effect.sync(() => void files.delete(key))
      )
  })
  return {
    files,
    asked,
    failNext: (times: number) => {
      failures = Array.from({ length: times }, () => new StorageError({ reason: "unavailable", detail: "away" }))
    },
    service,
    layer: Layer.succeed(Storage, service)
  }
}
