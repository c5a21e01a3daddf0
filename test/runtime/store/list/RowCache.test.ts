import { describe, expect, it } from "@effect/vitest"
import { Cache, Deferred, Effect, Exit } from "effect"
import * as RowCache from "../../../../src/runtime/store/list/RowCache.ts"

describe("rows kept in memory", () => {
  it.effect("reads again what could not be read", () =>
    Effect.gen(function* () {
      let away = true
      const rows = yield* RowCache.make({
        capacity: 10,
        lookup: (key: string) => Effect.suspend(() => (away ? Effect.die("the database is away") : Effect.succeed(key)))
      })
      expect(Exit.isFailure(yield* Effect.exit(Cache.get(rows, "a")))).toBe(true)
      away = false
      expect(yield* Cache.get(rows, "a")).toBe("a")
    })
  )

  it.effect("reads a row once", () =>
    Effect.gen(function* () {
      let reads = 0
      const rows = yield* RowCache.make({ capacity: 10, lookup: () => Effect.sync(() => ++reads) })
      yield* Cache.get(rows, "a")
      expect(yield* Cache.get(rows, "a")).toBe(1)
    })
  )

  it.effect("does not keep what was read before it was invalidated", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      let row = "old"
      const rows = yield* RowCache.make({
        capacity: 10,
        lookup: () => Effect.suspend(() => Effect.as(Deferred.await(gate), row))
      })
      yield* Effect.forkChild(Cache.get(rows, "a"))
      yield* Effect.yieldNow
      row = "new"
      yield* Cache.invalidate(rows, "a")
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Cache.get(rows, "a")).toBe("new")
    })
  )
})
