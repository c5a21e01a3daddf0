import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { setImmediate as turn } from "node:timers/promises"
import * as TurnBatches from "../../../src/runtime/store/TurnBatches.ts"

describe("Batches", () => {
  it.live("serve what waits already in the same turn of the event loop", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const batches = yield* TurnBatches.make<string>({
        name: "a test",
        limit: 1,
        serve: ([item = ""]) =>
          Effect.sync(() => {
            log.push(`served ${item}`)
            setImmediate(() => log.push(`told ${item}`))
          }),
        died: () => undefined
      })
      for (const item of ["a", "b"]) batches.offer("one", item)
      while (log.length < 4) yield* Effect.promise(() => turn())
      expect(log).toStrictEqual(["served a", "served b", "told a", "told b"])
    })
  )
})

describe("Batches with a pause between them", () => {
  const gathering = Effect.gen(function* () {
    const served: Array<ReadonlyArray<number>> = []
    const batches = yield* TurnBatches.make<number>({
      name: "a test",
      limit: 10,
      pauseMs: 5,
      longerMs: 15,
      enough: 4,
      serve: (batch) => Effect.sync(() => void served.push(batch)),
      died: () => undefined
    })
    yield* TestClock.adjust(0)
    batches.offer("a", 1)
    yield* TestClock.adjust(0)
    return { served, batches }
  })

  it.effect("gather for the longer one while nobody hurries", () =>
    Effect.gen(function* () {
      const { batches, served } = yield* gathering
      for (const item of [2, 3]) {
        yield* TestClock.adjust(6)
        batches.offer("a", item)
      }
      yield* TestClock.adjust(7)
      expect(served).toStrictEqual([[1]])
      yield* TestClock.adjust(1)
      expect(served).toStrictEqual([[1], [2, 3]])
    })
  )

  it.effect("begin after the shorter one when somebody hurries, before or after it", () =>
    Effect.gen(function* () {
      const { batches, served } = yield* gathering
      batches.offer("a", 2)
      batches.hurry()
      yield* TestClock.adjust(4)
      expect(served).toStrictEqual([[1]])
      yield* TestClock.adjust(1)
      expect(served).toStrictEqual([[1], [2]])
      batches.offer("a", 3)
      yield* TestClock.adjust(10)
      expect(served).toStrictEqual([[1], [2]])
      batches.hurry()
      yield* TestClock.adjust(0)
      expect(served).toStrictEqual([[1], [2], [3]])
    })
  )

  it.effect("begin after the shorter one when enough waits", () =>
    Effect.gen(function* () {
      const { batches, served } = yield* gathering
      for (const item of [2, 3, 4]) batches.offer("a", item)
      yield* TestClock.adjust(10)
      expect(served).toStrictEqual([[1]])
      batches.offer("b", 5)
      yield* TestClock.adjust(0)
      expect(served[1]?.toSorted()).toStrictEqual([2, 3, 4, 5])
    })
  )

  it.effect("gather for the longer one only while enough items come within a time, where one is given", () =>
    Effect.gen(function* () {
      const served: Array<ReadonlyArray<number>> = []
      const batches = yield* TurnBatches.make<number>({
        name: "a test",
        limit: 10,
        longerMs: 15,
        enough: 3,
        busyMs: 50,
        serve: (batch) => Effect.sync(() => void served.push(batch)),
        died: () => undefined
      })
      yield* TestClock.adjust(0)
      for (const item of [1, 2, 3, 4]) {
        batches.offer("a", item)
        yield* TestClock.adjust(1)
      }
      // After the third one `enough` items had come.
      expect(served).toStrictEqual([[1], [2], [3]])
      yield* TestClock.adjust(14)
      expect(served[3]).toStrictEqual([4])
      yield* TestClock.adjust(100)
      for (const item of [5, 6]) {
        batches.offer("a", item)
        yield* TestClock.adjust(1)
      }
      expect(served.slice(4)).toStrictEqual([[5], [6]])
    })
  )
})
