import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Carrier } from "../../src/carrier/Carrier.ts"

describe("the carrier port", () => {
  it.effect("takes a leg of an adapter that is not there any more for gone, so that recovery goes on", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* (yield* Carrier).presence("of another day", "svc_leg_1"), "gone")
    }).pipe(Effect.provide(Carrier.layer))
  )
})
