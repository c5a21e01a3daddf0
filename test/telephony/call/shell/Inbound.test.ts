import * as WorkPrice from "../../../../src/domain/WorkPrice.ts"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { Accounts } from "../../../../src/money/account/Account.ts"
import { Billing } from "../../../../src/money/billing/Billing.ts"
import type { CallRegistry } from "../../../../src/telephony/call/shell/CallRegistry.ts"
import * as Inbound from "../../../../src/telephony/call/shell/Inbound.ts"
import * as CallIdentity from "../../../../src/carrier/number/CallIdentity.ts"
import * as TrunkNumberPlan from "../../../../src/carrier/number/TrunkNumberPlan.ts"
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
    Layer.mock(Billing)({
      rate: () => Effect.succeed({ microUsdPerMinute: 10_000 }),
      prices: Effect.succeed(WorkPrice.free)
    }),
    Layer.mock(Trunks)({
      enter: () => Effect.void,
      leave: () => Effect.void,
      resolve: (_, routeId) =>
        Effect.succeed({ routeId: routeId ?? routes.default, adapter: routeId === null ? "simulator" : "sip" }),
      trunkAt: (_, address) => Effect.succeed(address === "192.0.2.2" ? { routeId: routes.trunk, plan: null } : null)
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

  it.effect("that comes while the database is away is refused, and its leg does not die of it", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const lost = new SqlError({
        reason: new ConnectionError({ cause: new Error("closed"), message: "closed", operation: "query" })
      })
      const doors = Layer.mergeAll(
        Layer.mock(Accounts)({
          takeIn: () => Effect.succeed(0),
          opening: () => {
            throw new Error("no account opens here")
          },
          onStatus: () => {}
        }),
        Layer.mock(Billing)({}),
        Layer.mock(Trunks)({}),
        Layer.mock(Numbers)({ byDialled: () => Effect.die(lost) }),
        Logger.layer([Logger.make(({ logLevel }) => void logged.push(logLevel))])
      )
      const admission = yield* Effect.gen(function* () {
        const admit = yield* Inbound.make({
          registry: { known: () => Effect.succeed(null) } as unknown as CallRegistry,
          maxCallSecs: 60,
          accepting: () => true
        })
        return yield* admit({
          from: "+442079460123",
          to: "+12025550150",
          legId: Ids.leg("l"),
          adapter: "simulator",
          source: null,
          resume: null,
          incarnation: "i",
          at: 0
        })
      }).pipe(Effect.provide(doors))
      expect(admission).toEqual({ admitted: false, cause: "unavailable" })
      expect(logged).toEqual(["Warn"])
    })
  )

  it.effect("is rated by the called number, which is the tenant's own", () =>
    Effect.gen(function* () {
      const asked: Array<readonly [tenantId: string, direction: string, number: string]> = []
      const doors = Layer.mergeAll(
        Layer.mock(Accounts)({
          takeIn: () => Effect.fail(ApiError.of("service_unavailable", "nothing can be read")),
          opening: () => {
            throw new Error("no account opens here")
          },
          onStatus: () => {}
        }),
        Layer.mock(Billing)({
          rate: (...args) => Effect.sync(() => ({ microUsdPerMinute: asked.push(args) })),
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
      expect(asked).toStrictEqual([[Ids.tenant("t"), "inbound", "+12025550150"]])
    })
  )
})

/** Two tenants with trunks at one address: one writes Australian numbers, the other German ones. */
const admitted = Effect.fnUntraced(function* (identity: Partial<CallIdentity.CallIdentity>) {
  const told: Array<{ readonly from: string; readonly to: string; readonly caller?: unknown }> = []
  const rated: Array<string> = []
  const lookedUp: Array<string> = []
  const plans = {
    au: { ...TrunkNumberPlan.none, country: "AU", sends: "national" as const },
    de: { ...TrunkNumberPlan.none, country: "DE", sends: "national" as const }
  }
  const owners: Readonly<Record<string, string>> = {
    "+61298765432": "au",
    "+49298765432": "au",
    "+4930123456": "de",
    "+12025550150": "us"
  }
  const doors = Layer.mergeAll(
    Layer.mock(Accounts)({
      takeIn: () => Effect.succeed(0),
      opening: () => {
        throw new Error("no account opens here")
      },
      onStatus: () => {}
    }),
    Layer.mock(Billing)({
      rate: (_, _direction, number) => Effect.sync(() => (rated.push(number), { microUsdPerMinute: 10_000 })),
      prices: Effect.succeed(WorkPrice.free)
    }),
    Layer.mock(Trunks)({
      enter: () => Effect.void,
      leave: () => Effect.void,
      resolve: () => Effect.succeed({ routeId: Ids.route("default"), adapter: "simulator" }),
      plansAt: () =>
        Effect.succeed([plans.de, plans.au, { ...plans.au, fromUser: "a" }, { ...plans.au, fromUser: "b" }]),
      trunkAt: (tenantId) =>
        Effect.succeed(
          tenantId === Ids.tenant("au") || tenantId === Ids.tenant("de")
            ? { routeId: Ids.route(tenantId), plan: tenantId === Ids.tenant("au") ? plans.au : plans.de }
            : null
        )
    }),
    Layer.mock(Numbers)({
      byDialled: (number) => {
        lookedUp.push(number)
        return Effect.succeed(
          owners[number] === undefined
            ? null
            : {
                tenantId: Ids.tenant(owners[number]),
                numberId: Ids.number("n"),
                routeId: null,
                status: "active" as const,
                isSuspended: false,
                callerIdName: null,
                inboundRecording: { enabled: false, format: "mp3" as const, channels: "single" as const }
              }
        )
      }
    })
  )
  const actor = {
    time: { offsetMs: 0 },
    tell: (input: (typeof told)[number]) => Effect.sync(() => told.push(input)),
    state: () => ({})
  }
  const admit = yield* Inbound.make({
    registry: { known: () => Effect.succeed(null), spawn: () => Effect.succeed(actor) } as unknown as CallRegistry,
    maxCallSecs: 60,
    accepting: () => true
  }).pipe(Effect.provide(doors))
  const admission = yield* admit({
    from: "0414674199",
    to: "0298765432",
    identity: { ...CallIdentity.named("0414674199", "Bob"), called: ["0298765432"], ...identity },
    legId: Ids.leg("l"),
    adapter: "sip",
    source: "192.0.2.2",
    resume: null,
    incarnation: "i",
    at: 0
  })
  return { admission: admission.admitted ? "admitted" : admission.cause, told: told[0], rated, lookedUp }
})

describe("an inbound call of a trunk of national numbers", () => {
  it.effect("comes to the tenant whose own trunk reads its digits so, and is reported and rated in E.164", () =>
    Effect.gen(function* () {
      const { admission, rated, told } = yield* admitted({})
      expect(admission).toBe("admitted")
      // +49298765432 is a number of this tenant, too, but its trunk writes no German numbers.
      expect(told).toMatchObject({ from: "+61414674199", to: "+61298765432" })
      expect(told?.caller).toEqual({ callerName: "Bob", diversion: [], attestation: null })
      expect(rated).toEqual(["+61298765432"])
    })
  )

  it.effect("is read by the plan of the called tenant's trunk, not by another one at the address", () =>
    Effect.gen(function* () {
      const { told } = yield* admitted({ called: ["030123456"], from: { user: "01711234567", name: "" } })
      expect(told).toMatchObject({ from: "+491711234567", to: "+4930123456" })
    })
  )

  it.effect("reaches a tenant without a trunk there by E.164, and its caller is reported as it came", () =>
    Effect.gen(function* () {
      const { told } = yield* admitted({ called: ["+12025550150"] })
      expect(told).toMatchObject({ from: "0414674199", to: "+12025550150" })
    })
  )

  it.effect("is looked up once by each number that its digits may be, however many plans read them so", () =>
    Effect.gen(function* () {
      const { lookedUp } = yield* admitted({ called: ["0298765433"] })
      expect(lookedUp.length).toBeGreaterThan(1)
      expect(lookedUp).toEqual([...new Set(lookedUp)])
    })
  )

  it.effect("to a number of nobody is not found", () =>
    Effect.gen(function* () {
      expect((yield* admitted({ called: ["0298765433"] })).admission).toBe("not_found")
      expect((yield* admitted({ called: [] })).admission).toBe("not_found")
    })
  )
})
