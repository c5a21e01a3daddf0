import { describe, expect, it } from "@effect/vitest"
import { chmod, readdir, readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { Entropy } from "../../../../src/runtime/process/Entropy.ts"
import * as TokenFile from "../../../../src/edge/operator/door/TokenFile.ts"
import * as DataDirectory from "../../../support/DataDirectory.ts"

const inDirectory = Effect.map(DataDirectory.make, (directory) => join(directory, "operator.token"))
const acquire = (path: string) =>
  TokenFile.acquire(path).pipe(Effect.provide(Entropy.layerFixed("token")), Effect.map(Redacted.value))
const modeOf = (path: string) => Effect.promise(async () => (await stat(path)).mode & 0o777)

describe("the operator's token", () => {
  it.effect("is made once, and kept over a restart", () =>
    Effect.gen(function* () {
      const path = yield* inDirectory
      const token = yield* acquire(path)
      expect(token).toMatch(/^[0-9a-f]{64}$/)
      expect(yield* modeOf(path)).toBe(0o600)
      yield* Effect.promise(() => chmod(path, 0o644))
      expect(yield* acquire(path)).toBe(token)
      expect(yield* modeOf(path)).toBe(0o600)
      expect(yield* Effect.promise(() => readdir(join(path, "..")))).toStrictEqual(["operator.token"])
    })
  )

  it.effect("replaces what is no token", () =>
    Effect.gen(function* () {
      const path = yield* inDirectory
      yield* Effect.promise(() => writeFile(path, "hunter2"))
      const token = yield* acquire(path)
      expect(yield* Effect.promise(() => readFile(path, "utf8"))).toBe(`${token}\n`)
      expect(yield* modeOf(path)).toBe(0o600)
    })
  )

  it.effect("fails in one line where it cannot be written", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(acquire("/nowhere/operator.token"))
      expect(error.message).toMatch(/^the operator's token file \/nowhere\/operator.token cannot be used: ENOENT/)
    })
  )

  it("accepts its own header, and no other", () => {
    const accepts = TokenFile.accepts(Redacted.make("abc"))
    expect(accepts("Bearer abc")).toBe(true)
    for (const other of [undefined, "", "abc", "Bearer ", "Bearer abcd", "bearer abc", "Basic abc"])
      expect(accepts(other)).toBe(false)
  })
})
