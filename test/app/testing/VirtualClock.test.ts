import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import * as VirtualClock from "../../../src/app/testing/VirtualClock.ts"

const on = <A>(clock: VirtualClock.VirtualClock, effect: Effect.Effect<A>) =>
  Effect.provideService(effect, Clock.Clock, clock)

describe("The virtual clock", () => {
  it("wakes those who are due in the order of their moments, then of their coming, each at its moment", async () => {
    const clock = VirtualClock.make(1_000)
    const woken: Array<string> = []
    const sleeps = [300, 100, 200, 100].map((ms, i) =>
      on(
        clock,
        Effect.andThen(
          Effect.sleep(ms),
          Effect.sync(() => void woken.push(`${i}`))
        )
      )
    )
    const fiber = Effect.runFork(Effect.all(sleeps, { concurrency: "unbounded" }))
    expect(clock.nextDue()).toBe(1_100)
    clock.moveTo(1_250)
    await new Promise(setImmediate)
    expect(woken).toEqual(["1", "3", "2"])
    expect(clock.currentTimeMillisUnsafe()).toBe(1_250)
    clock.moveTo(1_300)
    await Effect.runPromise(Fiber.join(fiber))
    expect(woken).toEqual(["1", "3", "2", "0"])
    expect(clock.nextDue()).toBe(null)
  })

  it("forgets who does not sleep any more, and never goes back", async () => {
    const clock = VirtualClock.make(0)
    const fiber = Effect.runFork(on(clock, Effect.sleep(50)))
    await Effect.runPromise(Fiber.interrupt(fiber))
    expect(clock.nextDue()).toBe(null)
    clock.moveTo(40)
    clock.moveTo(10)
    expect(clock.currentTimeMillisUnsafe()).toBe(40)
    expect(clock.monotonicTimeNanosUnsafe()).toBe(40_000_000n)
  })
})
