import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Accounts } from "../../src/account/Account.ts"
import { Billing } from "../../src/billing/Billing.ts"
import type { CallRegistry } from "../../src/call/CallRegistry.ts"
import * as Inbound from "../../src/call/Inbound.ts"
import { Connections } from "../../src/connection/Connection.ts"
import { ApiError } from "../../src/domain/ApiError.ts"
import { Numbers } from "../../src/number/Number.ts"
import * as Ids from "../support/Ids.ts"

describe("an inbound call", () => {
  it.effect("is rated by the called number, which is the tenant's own", () =>
    Effect.gen(function* () {
      const asked: Array<readonly [direction: string, number: string]> = []
      const doors = Layer.mergeAll(
        Layer.mock(Accounts)({
          admit: () => Effect.fail(ApiError.of("balance_insufficient", "no money")),
          opening: () => {
            throw new Error("no account opens here")
          },
          onStatus: () => {}
        }),
        Layer.mock(Billing)({ rate: (...args) => Effect.sync(() => asked.push(args)) }),
        Layer.mock(Connections)({}),
        Layer.mock(Numbers)({
          byDialled: () =>
            Effect.succeed({ tenantId: Ids.tenant("t"), numberId: Ids.number("n"), routeId: null, status: "active" })
        })
      )
      yield* Effect.gen(function* () {
        const admit = yield* Inbound.make({
          registry: { known: () => Effect.succeed(null) } as unknown as CallRegistry,
          maxCallSecs: 60,
          accepting: () => true
        })
        const numbers = { from: "+442079460123", to: "+12025550150" }
        const offer = {
          ...numbers,
          legId: Ids.leg("l"),
          adapter: "sip",
          source: null,
          resume: null,
          incarnation: "i",
          at: 0
        }
        expect(yield* admit(offer)).toStrictEqual({ admitted: false, cause: "unavailable" })
      }).pipe(Effect.provide(doors))
      expect(asked).toStrictEqual([["inbound", "+12025550150"]])
    })
  )
})
