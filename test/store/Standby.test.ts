import { expect, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import * as Standby from "../../src/store/Standby.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })(
  "Standby, src/README.md#one-writer",
  (it) => {
    it.effect("a second process waits while the first lives, and takes over when it ends", () =>
      Effect.gen(function* () {
        const first = yield* Scope.make()
        yield* Layer.buildWithScope(Standby.layer([0]), first)
        const second = yield* Effect.forkChild(Effect.scoped(Layer.build(Standby.layer([0]))))
        yield* Effect.sleep("1200 millis")
        expect(second.pollUnsafe()).toBeUndefined()
        yield* Scope.close(first, Exit.void)
        yield* Fiber.join(second).pipe(Effect.timeout("5 seconds"))
      })
    )

    it.effect("processes that hold other partitions stand in nobody's way", () =>
      Effect.gen(function* () {
        yield* Layer.build(Standby.layer([3, 5]))
        yield* Effect.timeout(Layer.build(Standby.layer([4])), "5 seconds")
        const third = yield* Effect.forkChild(Effect.scoped(Layer.build(Standby.layer([6, 5]))))
        yield* Effect.sleep("200 millis")
        expect(third.pollUnsafe()).toBeUndefined()
      }).pipe(Effect.scoped)
    )
  }
)
