import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import * as TimeSlices from "../../../src/domain/time/TimeSlices.ts"
import * as Random from "../../support/Random.ts"

/** Takes about so many milliseconds of the processor. */
const spin = (ms: number): void => {
  for (const until = performance.now() + ms; performance.now() < until;);
}

function* spinning(steps: number): TimeSlices.Work<string> {
  for (let n = 0; n < steps; n++) {
    spin(1)
    yield
  }
  return "done"
}

describe("work in slices", () => {
  it.live("lets the event loop have turns while it runs", () =>
    Effect.gen(function* () {
      let turns = 0
      let isOver = false
      const turn = (): void => {
        turns++
        if (!isOver) setImmediate(turn)
      }
      setImmediate(turn)
      expect(yield* TimeSlices.run(() => spinning(100))).toBe("done")
      isOver = true
      expect(turns).toBeGreaterThan(5)
    })
  )

  it.live("ends when it is interrupted", () =>
    Effect.gen(function* () {
      let steps = 0
      const fiber = yield* Effect.forkChild(
        TimeSlices.run(function* () {
          for (;;) {
            steps++
            yield
          }
        }),
        { startImmediately: true }
      )
      yield* Fiber.interrupt(fiber)
      const before = steps
      yield* Effect.promise(() => new Promise((done) => setImmediate(done)))
      expect(steps).toBe(before)
    })
  )

  it.live("dies of its own defect", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(
        TimeSlices.run(function* () {
          yield
          throw new Error("a bug")
        })
      )
      expect(Exit.hasDies(exit)).toBe(true)
    })
  )

  it("sorts as `toSorted` does, with equal items in their order", () => {
    const random = Random.make(5)
    for (const length of [0, 1, 2, 1_023, 1_024, 1_025, 5_000]) {
      const items = Array.from({ length }, (_, nth) => ({ nth, key: random.below(500) }))
      const compare = (one: { readonly key: number }, other: { readonly key: number }) => one.key - other.key
      expect(TimeSlices.atOnce(TimeSlices.sorted(items, compare))).toEqual(items.toSorted(compare))
    }
  })
})
