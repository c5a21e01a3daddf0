import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as EntityTime from "../../../src/runtime/actor/EntityTime.ts"
import * as Monotonic from "../../../src/domain/time/Monotonic.ts"
import * as SteppedClock from "../../support/SteppedClock.ts"

const hour = 3_600_000

describe("EntityTime", () => {
  it.effect("begins with the wall, and is what has passed from there on", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_700_000_000_000)
      const { clock, step } = yield* SteppedClock.make
      yield* step(2 * hour)
      const time = EntityTime.start(clock, 5_000)
      expect(EntityTime.now(time, clock)).toBe(1_700_000_000_000 + 2 * hour)
      yield* step(-5 * hour)
      yield* TestClock.adjust(250)
      expect(EntityTime.now(time, clock)).toBe(1_700_000_000_250 + 2 * hour)
    })
  )

  it.effect("goes on in another process with the time of its partition", () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const before = EntityTime.start(clock, 7_000)
      const now = EntityTime.now(before, clock)
      // The entity was in no process for three seconds, and the next process's monotonic clock began elsewhere.
      const after = EntityTime.resume(7_000 + 3_000, before.offsetMs)
      expect(EntityTime.now(after, clock)).toBe(now + 3_000)
    })
  )

  it.effect("reads a moment of the monotonic clock as it was read then", () =>
    Effect.gen(function* () {
      const { clock, step } = yield* SteppedClock.make
      const time = EntityTime.start(clock, 0)
      const began = EntityTime.now(time, clock)
      yield* TestClock.adjust(1_000)
      const read = Monotonic.read(clock)
      yield* step(hour)
      yield* TestClock.adjust(9_000)
      expect(EntityTime.ofMonotonic(time, clock, read)).toBe(began + 1_000)
      expect(EntityTime.toMonotonic(time, clock, began + 1_000)).toBe(read)
    })
  )

  it.effect("is the wall's where nothing is measured", () =>
    Effect.gen(function* () {
      const { clock, step } = yield* SteppedClock.make
      yield* step(-hour)
      expect(EntityTime.now(EntityTime.wall, clock)).toBe(-hour)
      yield* step(2 * hour)
      expect(EntityTime.now(EntityTime.wall, clock)).toBe(hour)
    })
  )
})
