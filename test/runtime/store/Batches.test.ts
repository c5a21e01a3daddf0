import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Latch, References } from "effect"
import { TestClock } from "effect/testing"
import * as Batches from "../../../src/runtime/store/Batches.ts"

interface Question {
  readonly number: number
  readonly done: Deferred.Deferred<number>
}

const answer = (batch: ReadonlyArray<Question>): void => {
  for (const { done, number } of batch) Deferred.doneUnsafe(done, Exit.succeed(-number))
}

const quiet = Effect.provideService(References.MinimumLogLevel, "None")

const died = ({ done }: Question, defect: unknown): void => void Deferred.doneUnsafe(done, Exit.die(defect))

const ask = (batches: Batches.Batches<Question>, numbers: ReadonlyArray<number>) =>
  Effect.forEach(
    numbers,
    (number) =>
      Effect.forkChild(
        Batches.ask<Question, number>(batches, (done) => ({ number, done })),
        { startImmediately: true }
      ),
    { concurrency: 1 }
  )

describe("Batches", () => {
  it.effect("serve what came while a batch was served in the next one, in order, and no more than fits", () =>
    Effect.gen(function* () {
      const served: Array<ReadonlyArray<number>> = []
      const database = Latch.makeUnsafe(false)
      const batches = yield* Batches.make<Question>({
        name: "a test",
        died,
        limit: 3,
        serve: (batch) =>
          Effect.andThen(
            Effect.sync(() => void served.push(batch.map(({ number }) => number))),
            Effect.map(Latch.await(database), () => answer(batch))
          )
      })
      const first = yield* ask(batches, [1])
      yield* TestClock.adjust(0)
      const others = yield* ask(batches, [2, 3, 4, 5, 6])
      yield* TestClock.adjust(0)
      expect(served).toEqual([[1]])
      Latch.openUnsafe(database)
      expect(yield* Fiber.joinAll([...first, ...others])).toEqual([-1, -2, -3, -4, -5, -6])
      expect(served).toEqual([[1], [2, 3, 4], [5, 6]])
    })
  )

  it.effect("wait between two batches, and not before the first", () =>
    Effect.gen(function* () {
      const served: Array<number> = []
      const batches = yield* Batches.make<Question>({
        name: "a test",
        died,
        limit: 8,
        pauseMs: 5,
        serve: (batch) =>
          Effect.sync(() => {
            served.push(batch.length)
            answer(batch)
          })
      })
      yield* ask(batches, [1])
      yield* TestClock.adjust(0)
      expect(served).toEqual([1])
      yield* ask(batches, [2])
      yield* TestClock.adjust(4)
      yield* ask(batches, [3])
      expect(served).toEqual([1])
      yield* TestClock.adjust(1)
      expect(served).toEqual([1, 2])
    })
  )

  it.effect("give a batch what waits behind it, when it asks", () =>
    Effect.gen(function* () {
      const silent = Latch.makeUnsafe(false)
      const batches = yield* Batches.make<Question>({
        name: "a test",
        died,
        limit: 1,
        serve: (batch, rest) =>
          Effect.gen(function* () {
            yield* Latch.await(silent)
            answer([...batch, ...(yield* rest)])
            yield* Effect.never
          })
      })
      const asked = yield* ask(batches, [1, 2, 3])
      yield* TestClock.adjust(0)
      Latch.openUnsafe(silent)
      expect(yield* Fiber.joinAll(asked)).toEqual([-1, -2, -3])
    })
  )

  it.effect("a batch that dies is told so, and the next one is served", () =>
    Effect.gen(function* () {
      const batches = yield* Batches.make<Question>({
        name: "a test",
        died,
        limit: 2,
        serve: (batch) =>
          batch.some(({ number }) => number === 1) ? Effect.die("no") : Effect.sync(() => answer(batch))
      })
      const fibers = yield* ask(batches, [1, 2, 3])
      yield* TestClock.adjust("1 second")
      const exits = yield* Effect.forEach(fibers, Fiber.await)
      expect(exits).toStrictEqual([Exit.die("no"), Exit.die("no"), Exit.succeed(-3)])
    }).pipe(Effect.scoped, quiet)
  )
})
