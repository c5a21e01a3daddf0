import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { BodyTurns } from "../../../src/domain/fair/RequestTurns.ts"
import { limits } from "../../../src/edge/http/Server.ts"

it.effect("a long body waits for its turn while it could still be read in time, and is refused then", () =>
  Effect.gen(function* () {
    const turns = yield* BodyTurns
    const gate = yield* Deferred.make<void>()
    const first = yield* Effect.forEach(Array.from({ length: 32 }), () =>
      Effect.forkChild(Effect.exit(turns.within("tenant")(Deferred.await(gate))))
    )
    yield* TestClock.adjust("15 seconds")
    expect([turns.running(), turns.waiting()]).toEqual([5, 27])
    const late = yield* Effect.forkChild(Effect.exit(turns.within("tenant")(Effect.void)))
    yield* TestClock.adjust("19 seconds")
    expect(turns.waiting()).toBe(1)
    yield* Deferred.succeed(gate, undefined)
    const outcomes = yield* Effect.forEach(first, Fiber.join)
    expect(outcomes.filter(({ _tag }) => _tag === "Success")).toHaveLength(5)
    expect((yield* Fiber.join(late))._tag).toBe("Success")
    // Half of the time is for waiting, and the rest for reading.
    expect(limits.requestMs).toBeGreaterThan(20_000)
  })
)
