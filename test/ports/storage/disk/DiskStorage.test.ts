import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import * as DiskStorage from "../../../../src/ports/storage/disk/DiskStorage.ts"
import { type Range, Storage } from "../../../../src/ports/storage/Storage.ts"

const content = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i % 251))
const key = "recordings/ab/one.wav"

/** A store with one object in it. */
const setup = Effect.gen(function* () {
  const path = yield* Effect.acquireRelease(
    Effect.promise(async () => mkdtemp(join(tmpdir(), "store-"))),
    (made) => Effect.promise(async () => rm(made, { recursive: true, force: true }))
  )
  const file = join(path, "file")
  yield* Effect.promise(async () => writeFile(file, content))
  const root = join(path, "root")
  const storage = yield* Effect.provide(Storage, DiskStorage.layer(root))
  const put = storage.put(key, { path: file, sizeBytes: content.length, contentType: "audio/wav" })
  const read = (at: string, range: Range | null = null) =>
    Effect.gen(function* () {
      const { body, sizeBytes } = yield* storage.open(at, range)
      return { sizeBytes, bytes: Buffer.concat(yield* Stream.runCollect(body)) }
    }).pipe(Effect.scoped)
  return { file, path, put, read, root, storage }
})

it.live("The disk gives back what was stored, whole and in ranges, also when its source has gone", () =>
  Effect.gen(function* () {
    const { file, put, read } = yield* setup
    yield* put
    yield* put
    yield* Effect.promise(async () => rm(file))
    const whole = yield* read(key)
    expect([whole.sizeBytes, whole.bytes.equals(content)]).toStrictEqual([content.length, true])
    const part = yield* read(key, { from: 70_000, to: 140_000 })
    expect([part.sizeBytes, part.bytes.equals(content.subarray(70_000, 140_001))]).toStrictEqual([content.length, true])
  })
)

it.live("An object is moved and removed once, however often that is asked", () =>
  Effect.gen(function* () {
    const { put, read, storage } = yield* setup
    const archived = "archive/ab/one.wav"
    yield* put
    yield* storage.move(key, archived)
    yield* storage.move(key, archived)
    expect((yield* read(archived)).sizeBytes).toBe(content.length)
    expect((yield* Effect.flip(read(key))).reason).toBe("missing")
    yield* storage.remove(archived)
    yield* storage.remove(archived)
    expect((yield* Effect.flip(read(archived))).reason).toBe("missing")
    expect((yield* Effect.flip(storage.move(key, archived))).reason).toBe("missing")
  })
)

it.live("What cannot be stored is there not at all, and is told as a store that is away", () =>
  Effect.gen(function* () {
    const { path, put, root, storage } = yield* setup
    // A file is where the folder would be.
    yield* Effect.promise(async () => writeFile(root, ""))
    expect((yield* Effect.flip(put)).reason).toBe("unavailable")
    yield* Effect.promise(async () => rm(root))
    const absent = { path: join(path, "none"), sizeBytes: 1, contentType: "audio/wav" }
    expect(Result.isFailure(yield* Effect.result(storage.put(key, absent)))).toBe(true)
    expect(yield* Effect.promise(async () => readdir(join(root, "recordings", "ab")))).toStrictEqual([])
    yield* put
    expect(yield* Effect.promise(async () => readdir(join(root, "recordings", "ab")))).toStrictEqual(["one.wav"])
  })
)

it.live("One name is left of a file that is stored again, as after a crash behind its first time", () =>
  Effect.gen(function* () {
    const { put, root } = yield* setup
    yield* put
    yield* put
    const names = yield* Effect.promise(async () => readdir(join(root, "recordings/ab")))
    expect(names).toStrictEqual(["one.wav"])
  })
)
