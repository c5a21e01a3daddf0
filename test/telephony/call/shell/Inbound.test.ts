import * as WorkPrice from "../../../../src/domain/WorkPrice.ts"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Accounts } from "../../../../src/money/account/Account.ts"
import { Billing } from "../../../../src/money/billing/Billing.ts"
import type { CallRegistry } from "../../../../src/telephony/call/shell/CallRegistry.ts"
import * as Inbound from "../../../../src/telephony/call/shell/Inbound.ts"
import { Trunks } from "../../../../src/numbers/trunk/Trunk.ts"
import { ApiError } from "../../../../src/domain/ApiError.ts"
import { Numbers } from "../../../../src/numbers/number/Number.ts"
import type { RouteId } from "../../../../src/domain/Id.ts"
import * as Ids from "../../../support/Ids.ts"

/** The route of a call to a number with this route, which came from `source` to a tenant with one trunk there. */
const routeOf = Effect.fnUntraced(function* (
  numberRouteId: RouteId | null,
  source: string | null,
  isSuspended = false
) {
  const told: Array<unknown> = []
  const routes = { number: Ids.route("number"), trunk: Ids.route("trunk"), default: Ids.route("default") }
  const doors = Layer.mergeAll(
    Layer.mock(Accounts)({
      takeIn: () => Effect.succeed(0),
      opening: () => {
        throw new Error("no account opens here")
      },
      onStatus: () => {}
    }),
    Layer.mock(Billing)({ rate: () => Effect.succeed(10_000), prices: Effect.succeed(WorkPrice.free) }),
    Layer.mock(Trunks)({
      enter: () => Effect.void,
      leave: () => Effect.void,
      resolve: (_, routeId) =>
        Effect.succeed({ routeId: routeId ?? routes.default, adapter: routeId === null ? "simulator" : "sip" }),
      routeAt: (_, address) => Effect.succeed(address === "192.0.2.2" ? routes.trunk : null)
    }),
    Layer.mock(Numbers)({
      byDialled: () =>
        Effect.succeed({
          tenantId: Ids.tenant("t"),
          numberId: Ids.number("n"),
          routeId: numberRouteId,
          status: "active",
          isSuspended,
          callerIdName: null,
          inboundRecording: { enabled: false, format: "mp3" as const, channels: "single" as const }
        })
    })
  )
  const actor = {
    time: { offsetMs: 0 },
    tell: (input: unknown) => Effect.sync(() => told.push(input)),
    state: () => ({})
  }
  const admit = yield* Inbound.make({
    registry: {
      known: () => Effect.succeed(null),
      spawn: () => Effect.succeed(actor)
    } as unknown as CallRegistry,
    maxCallSecs: 60,
    accepting: () => true
  }).pipe(Effect.provide(doors))
  const admission = yield* admit({
    from: "+442079460123",
    to: "+12025550150",
    legId: Ids.leg("l"),
    adapter: "sip",
    source,
    resume: null,
    incarnation: "i",
    at: 0
  })
  if (!admission.admitted) return admission.cause
  const { routeId } = admission
  expect(told).toMatchObject([{ type: "offered", terms: { routeId } }])
  return Object.entries(routes).find(([, id]) => id === routeId)?.[0] ?? null
})

describe("an inbound call", () => {
  it.effect("to a number that rests is busy", () =>
    Effect.gen(function* () {
      expect(yield* routeOf(Ids.route("number"), "192.0.2.2", true)).toBe("user_busy")
    })
  )

  it.effect("has its number's route, else the tenant's at the address that it came from, else the default", () =>
    Effect.gen(function* () {
      expect(yield* routeOf(Ids.route("number"), "192.0.2.2")).toBe("number")
      expect(yield* routeOf(null, "192.0.2.2")).toBe("trunk")
      expect(yield* routeOf(null, "192.0.2.3")).toBe("default")
      expect(yield* routeOf(null, null)).toBe("default")
    })
  )

  it.effect("is rated by the called number, which is the tenant's own", () =>
    Effect.gen(function* () {
      const asked: Array<readonly [direction: string, number: string]> = []
      const doors = Layer.mergeAll(
        Layer.mock(Accounts)({
          takeIn: () => Effect.fail(ApiError.of("service_unavailable", "nothing can be read")),
          opening: () => {
            throw new Error("no account opens here")
          },
          onStatus: () => {}
        }),
        Layer.mock(Billing)({
          rate: (...args) => Effect.sync(() => asked.push(args)),
          prices: Effect.succeed(WorkPrice.free)
        }),
        Layer.mock(Trunks)({}),
        Layer.mock(Numbers)({
          byDialled: () =>
            Effect.succeed({
              tenantId: Ids.tenant("t"),
              numberId: Ids.number("n"),
              routeId: null,
              status: "active",
              isSuspended: false,
              callerIdName: null,
              inboundRecording: { enabled: false, format: "mp3" as const, channels: "single" as const }
            })
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
        expect(yield* admit(offer)).toStrictEqual({
          admitted: false,
          cause: "unavailable",
          of: { tenantId: "t", routeId: null, why: "service_unavailable" }
        })
      }).pipe(Effect.provide(doors))
      expect(asked).toStrictEqual([["inbound", "+12025550150"]])
    })
  )
})
