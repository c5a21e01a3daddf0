import { describe, expect, it } from "@effect/vitest"
import { Effect, References } from "effect"
import { TestClock } from "effect/testing"
import { Fatal } from "../../../src/runtime/process/Fatal.ts"
import * as Supervised from "../../../src/runtime/process/Supervised.ts"

const quiet = Effect.provideService(References.MinimumLogLevel, "None")

describe("A fiber of the service, src/runtime/README.md#supervision", () => {
  it.effect("begins again after a defect and after a failure, each time after a longer wait", () =>
    Effect.gen(function* () {
      let started = 0
      yield* Supervised.fork(
        "a test",
        Effect.suspend(() => {
          started++
          return started === 1 ? Effect.die("a defect") : started === 2 ? Effect.fail("a failure") : Effect.never
        })
      )
      yield* TestClock.adjust(0)
      expect(started).toBe(1)
      yield* TestClock.adjust(50)
      expect(started).toBe(2)
      yield* TestClock.adjust(99)
      expect(started).toBe(2)
      yield* TestClock.adjust(1)
      expect(started).toBe(3)
    }).pipe(Effect.scoped, quiet)
  )

  it.effect("stops the process with a reason when it cannot live", () =>
    Effect.gen(function* () {
      const reasons: Array<string> = []
      yield* Supervised.fork("the writer of tests", Effect.die(new Error("no room"))).pipe(
        Effect.provideService(Fatal, (reason) => void reasons.push(reason))
      )
      for (let second = 0; second < 60; second++) yield* TestClock.adjust("1 second")
      expect(reasons).toStrictEqual(["the writer of tests died 11 times in a minute: no room"])
    }).pipe(Effect.scoped, quiet)
  )

  it.effect("is done when its work completes, and ends with its scope", () =>
    Effect.gen(function* () {
      let started = 0
      let ended = false
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Supervised.fork(
            "a test",
            Effect.sync(() => void started++)
          )
          yield* Supervised.fork(
            "another",
            Effect.ensuring(
              Effect.never,
              Effect.sync(() => (ended = true))
            )
          )
          yield* TestClock.adjust("1 hour")
        })
      )
      expect(started).toBe(1)
      expect(ended).toBe(true)
    })
  )
})
