import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Latch, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as CommitQueue from "../../../../src/runtime/store/journal/CommitQueue.ts"
import { empty } from "../../../../src/runtime/store/journal/Journal.ts"
import * as WaitingCommit from "../../../../src/runtime/store/journal/WaitingCommit.ts"

const answer = { missing: null, homes: null, balances: null, endpoints: null, handed: null }
const calm = {
  failed: () => Effect.void,
  written: Effect.void,
  began: Effect.succeed(0),
  watch: Effect.never,
  isFailing: () => false,
  canWrite: Effect.succeed(true),
  unavailableForMs: Effect.succeed(0)
}

/** A queue whose statements get their answers when `answers` is open. */
const setUp = Effect.gen(function* () {
  const answers = Latch.makeUnsafe(true)
  const queue = yield* CommitQueue.make({
    outage: calm,
    limitMs: 10_000,
    attempt: () =>
      Effect.succeed(({ entries }) =>
        Effect.as(
          Effect.tap(Latch.await(answers), () => {
            for (const entry of entries) WaitingCommit.succeed(entry, answer)
            return Effect.void
          }),
          []
        )
      )
  })
  return { answers, queue }
})

describe("The queue of the journal's writer", () => {
  it.effect("answers all who wait when it closes, and all who come later", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { answers, queue } = yield* Scope.provide(setUp, scope)
      yield* queue.commit(empty)
      answers.closeUnsafe()
      const start = <A, E>(effect: Effect.Effect<A, E>) =>
        Effect.tap(Effect.forkChild(Effect.exit(effect)), () => TestClock.adjust(10))
      const handedOver = yield* start(queue.commit(empty))
      const waits = yield* start(queue.commit(empty))
      const mayGiveUp = yield* start(queue.commitWhile(empty, () => true, true))
      const asked = yield* start(queue.commitAsked(empty))
      expect(queue.waiting()).toBe(4)
      yield* Scope.close(scope, Exit.void)
      const late = yield* start(queue.commit(empty))
      const lateAsked = yield* start(queue.commitAsked(empty))
      yield* TestClock.adjust(10)
      for (const each of [handedOver, waits, mayGiveUp, asked, late, lateAsked])
        expect(each.pollUnsafe(), "everybody is answered").toBeDefined()
      expect(JSON.stringify(yield* Fiber.join(handedOver))).toContain("Die")
      // The outcome is unknown to a caller that cannot give up, so its commit dies.
      for (const each of [waits, late]) expect(JSON.stringify(yield* Fiber.join(each))).toContain("Die")
      expect(yield* Fiber.join(mayGiveUp), "nothing was written, and nothing will be").toStrictEqual(Exit.succeed(null))
      for (const each of [asked, lateAsked])
        expect(JSON.stringify(yield* Fiber.join(each))).toContain("service_unavailable")
      expect(queue.waiting()).toBe(0)
    })
  )
})
