import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Scope, Exit } from "effect"
import { Carrier } from "../../src/carrier/Carrier.ts"
import * as Sample from "../support/fake/CarrierSample.ts"
import * as Ids from "../support/Ids.ts"

const hangup = {
  commandId: Ids.command("c"),
  callId: Ids.call("call"),
  legId: Ids.leg("leg"),
  type: "hangup",
  origin: null,
  resume: null
} as const

describe("the carrier port", () => {
  it.effect("says that an adapter which cannot be reached cannot be asked, and drops what it is told", () =>
    Effect.gen(function* () {
      const carrier = yield* Carrier
      expect(yield* carrier.snapshot("of another day", Sample.authority, null)).toBeNull()
      expect(carrier.incarnation("of another day")).toBeNull()
      yield* carrier.interpret("of another day", Sample.order(hangup))
    }).pipe(Effect.provide(Carrier.layer))
  )

  it.effect("tells who watches when an adapter comes and goes, the newest of a name counts", () =>
    Effect.gen(function* () {
      const carrier = yield* Carrier
      const seen: Array<string> = []
      yield* carrier.watch((name, isUp) => seen.push(`${name} ${isUp}`))
      const registered = (incarnation: string) =>
        Effect.gen(function* () {
          const scope = yield* Scope.make()
          yield* Scope.provide(
            carrier.register(
              "sip",
              Sample.adapter(() => Effect.void, incarnation)
            ),
            scope
          )
          return scope
        })
      const first = yield* registered("first")
      const second = yield* registered("second")
      yield* Scope.close(first, Exit.void)
      expect(carrier.incarnation("sip")).toBe("second")
      yield* Scope.close(second, Exit.void)
      expect(carrier.incarnation("sip")).toBeNull()
      expect(seen).toStrictEqual(["sip true", "sip true", "sip false"])
    }).pipe(Effect.provide(Carrier.layer))
  )

  it.effect("waits for an adapter before it says that its events are through", () =>
    Effect.gen(function* () {
      const carrier = yield* Carrier
      const waiting = yield* Effect.forkChild(carrier.caughtUp("sip", Ids.leg("leg")))
      yield* Effect.yieldNow
      expect(waiting.pollUnsafe()).toBeUndefined()
      yield* carrier.register(
        "sip",
        Sample.adapter(() => Effect.void)
      )
      yield* Fiber.join(waiting)
    }).pipe(Effect.provide(Carrier.layer))
  )
})
