import { assert, describe, it } from "@effect/vitest"
import { chmod, readdir, readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { Entropy } from "../../src/actor/Entropy.ts"
import * as TokenFile from "../../src/operator/TokenFile.ts"
import * as DataDirectory from "../support/DataDirectory.ts"

const inDirectory = Effect.map(DataDirectory.make, (directory) => join(directory, "operator.token"))
const acquire = (path: string) =>
  TokenFile.acquire(path).pipe(Effect.provide(Entropy.layerFixed("token")), Effect.map(Redacted.value))
const modeOf = (path: string) => Effect.promise(async () => (await stat(path)).mode & 0o777)

describe("the operator's token", () => {
  it.effect("is made once, and kept over a restart", () =>
    Effect.gen(function* () {
      const path = yield* inDirectory
      const token = yield* acquire(path)
      assert.match(token, /^[0-9a-f]{64}$/)
      assert.strictEqual(yield* modeOf(path), 0o600)
      yield* Effect.promise(() => chmod(path, 0o644))
      assert.strictEqual(yield* acquire(path), token)
      assert.strictEqual(yield* modeOf(path), 0o600)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(join(path, ".."))), ["operator.token"])
    })
  )

  it.effect("replaces what is no token", () =>
    Effect.gen(function* () {
      const path = yield* inDirectory
      yield* Effect.promise(() => writeFile(path, "hunter2"))
      const token = yield* acquire(path)
      assert.strictEqual(yield* Effect.promise(() => readFile(path, "utf8")), `${token}\n`)
      assert.strictEqual(yield* modeOf(path), 0o600)
    })
  )

  it.effect("fails in one line where it cannot be written", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(acquire("/nowhere/operator.token"))
      assert.match(error.message, /^the operator's token file \/nowhere\/operator.token cannot be used: ENOENT/)
    })
  )

  it("accepts its own header, and no other", () => {
    const accepts = TokenFile.accepts(Redacted.make("abc"))
    assert.isTrue(accepts("Bearer abc"))
    for (const other of [undefined, "", "abc", "Bearer ", "Bearer abcd", "bearer abc", "Basic abc"])
      assert.isFalse(accepts(other))
  })
})
