import { randomUUID } from "node:crypto"
import { expect } from "vitest"
import * as TestServer from "../../edge/http/TestServer.ts"
import * as Call from "../Call.ts"
import type { Row } from "../Row.ts"
import * as World from "../world/World.ts"

interface Rule {
  readonly id: string
}

/** A tenant for this row, whose account the operator may change. */
const own = async (world: World.World) => {
  const tenant = await world.running().tenant(world.carrier)
  const { operate } = world.running()
  const of: World.World = { ...world, tenant }
  return {
    world: of,
    place: (body: object = {}) => Call.refusedPlacement(of, tenant, body),
    quota: (quota: object) => operate("tenant/quota", { tenant: tenant.id, ...quota }),
    rule: async (operation: string, value: string) =>
      (await operate(`destinations/${operation}`, { tenant: tenant.id, value })) as Rule,
    forget: ({ id }: Rule) => operate("destinations/remove", { id }),
    credit: (cents: number) => operate("tenant/credit", { tenant: tenant.id, cents, reason: "a row" })
  }
}

/** Refusals of a dialled leg, in the order of guide/calls.md#order-of-checks. */
const dialled: ReadonlyArray<Row> = [
  {
    name: "a placed call is refused for a route that is not there, or is disabled",
    run: async (world) => {
      const { place, world: of } = await own(world)
      expect(await place({ route_id: `svc_route_${"0".repeat(32)}` })).toBe("404 not_found")
      const { results } = (await of.tenant.ask("GET", "/v1/connections")).json as {
        readonly results: ReadonlyArray<{ readonly id: string; readonly is_default: boolean }>
      }
      const route = results.find(({ is_default }) => world.carrier === "simulator" || !is_default)
      if (route === undefined || world.carrier === "simulator") return
      await world.running().operate("route/disable", { id: route.id })
      expect(await place({ route_id: route.id })).toBe("422 unprocessable")
    }
  },
  {
    name: "a placed call is refused for a from that is not ours, and may have any where forwarding is allowed",
    run: async (world) => {
      const { place, quota, world: of } = await own(world)
      expect(await place({ from: "+12025559999" })).toBe("403 from_number_not_owned")
      expect(await place({ caller_id_forwarding: true })).toBe("422 caller_id_forwarding_not_allowed")
      await quota({ allow_caller_id_forwarding: true })
      const { call } = await World.place(of, { from: "+12025559999", caller_id_forwarding: true })
      expect(await call.event("call.started")).toMatchObject({ from: "+12025559999" })
      await call.over()
    }
  },
  {
    name: "a placed call and a transfer are refused for their destination",
    run: async (world) => {
      const { forget, place, rule, world: of } = await own(world)
      const { call } = await World.answered(of)
      const transfer = (body: object = {}) => call.refused("transfer", { to: "+12025550116", ...body })
      expect(await transfer({ from: "+12025559999" })).toBe("403 from_number_not_owned")
      const prefix = await rule("block-prefix", "+1202")
      expect([await place(), await transfer()]).toEqual(["403 prefix_blocked", "403 prefix_blocked"])
      await forget(prefix)
      const country = await rule("block-country", "US")
      expect([await place(), await transfer()]).toEqual(["403 country_blocked", "403 country_blocked"])
      await forget(country)
      const allowed = await rule("allow-country", "DE")
      expect([await place(), await transfer()]).toEqual(["403 country_not_allowed", "403 country_not_allowed"])
      await forget(allowed)
      expect((await call.find()).legs.length).toBe(1)
      await call.over()
    }
  },
  {
    name: "a placed call and a transfer are refused for money, caps and the concurrent limit",
    run: async (world) => {
      const { credit, place, quota, world: of } = await own(world)
      const { call } = await World.answered(of)
      const transfer = () => call.refused("transfer", { to: "+12025550116" })
      await quota({ concurrent_call_limit: 1 })
      expect([await place(), await transfer()]).toEqual([
        "403 concurrent_call_cap_exceeded",
        "403 concurrent_call_cap_exceeded"
      ])
      await quota({ concurrent_call_limit: 10, daily_spend_cap_cents: 1 })
      expect([await place(), await transfer()]).toEqual([
        "403 daily_spend_cap_exceeded",
        "403 daily_spend_cap_exceeded"
      ])
      await quota({ daily_spend_cap_cents: null, monthly_spend_cap_cents: 1 })
      expect([await place(), await transfer()]).toEqual([
        "403 monthly_spend_cap_exceeded",
        "403 monthly_spend_cap_exceeded"
      ])
      await quota({ monthly_spend_cap_cents: null })
      await credit(-2_000_000)
      expect([await place(), await transfer()]).toEqual(["402 balance_insufficient", "402 balance_insufficient"])
      await call.over()
    }
  },
  {
    name: "a trunk's calls a second are limited where the operator says so",
    only: "sip",
    run: async (world) => {
      const { place, world: of } = await own(world)
      const { operate } = world.running()
      const route = (await operate("route/add", {
        tenant: of.tenant.id,
        name: "slow",
        host: "127.0.0.1",
        port: world.running().peer.port,
        is_default: false,
        is_qualified: false
      })) as { readonly id: string }
      await operate("route/limits", { id: route.id, outbound_cps: 1 })
      const first = await World.dial(of, "+12025550101", { route_id: route.id })
      expect(await place({ route_id: route.id })).toBe("429 rate_limited")
      await first.event("call.ended")
    }
  }
]

/** Refusals that any request may get, guide/errors.md#every-request. */
const every: ReadonlyArray<Row> = [
  {
    name: "a request without a key, with one that nobody has, and with one that lacks the scope, is refused",
    run: async (world) => {
      const { world: of } = await own(world)
      const { call } = await World.place(of)
      const made = (await of.tenant.ask("POST", "/v1/api-keys/", { name: "reader", scopes: ["calls:read"] })).json as {
        readonly api_key_plaintext: string
      }
      const ask = async (key: string | null, path = `${call.path}/actions/hangup`) => {
        const answer = await world.running().ask(key, "POST", path)
        const code = String(TestServer.codeOf(answer))
        world.seen.error(code)
        return `${answer.status} ${code}`
      }
      expect(await ask(null)).toBe("401 authentication_required")
      expect(await ask("svc_live_nobody")).toBe("401 invalid_credentials")
      expect(await ask(made.api_key_plaintext)).toBe("403 forbidden")
      expect(await ask(made.api_key_plaintext, `${call.path}/streamings`)).toBe("405 method_not_allowed")
      expect((await call.find()).status).not.toBe("ended")
      await call.over()
    }
  },
  {
    name: "a suspended tenant is refused, its calls go on, and end where the operator ends them",
    run: async (world) => {
      const { world: of } = await own(world)
      const { operate } = world.running()
      const { call } = await World.answered(of)
      const tenant = of.tenant.id
      await operate("tenant/suspend", { tenant })
      const answer = await of.tenant.ask("POST", `${call.path}/actions/hangup`)
      expect([answer.status, TestServer.codeOf(answer)]).toEqual([403, "tenant_suspended"])
      world.seen.error("tenant_suspended")
      await operate("tenant/suspend", { tenant, end_calls: true })
      expect(await call.event("call.ended")).toMatchObject({
        status: "ended",
        end_reason: "tenant_suspended",
        end_initiator: "system"
      })
      await operate("tenant/reactivate", { tenant })
    }
  },
  {
    name: "a request that is repeated with its key has one effect; the key with another body, or a long one, is refused",
    run: async (world) => {
      const { call } = await World.answered(world)
      const key = randomUUID()
      const ask = (body: object, idempotencyKey: string = key) =>
        world.tenant.ask("POST", `${call.path}/actions/send_dtmf`, body, { "idempotency-key": idempotencyKey })
      const [first, again] = [await ask({ digits: "1" }), await ask({ digits: "1" })]
      expect([again.status, again.text, again.headers["idempotent-replayed"]]).toEqual([200, first.text, "true"])
      for (const [answer, expected] of [
        [await ask({ digits: "2" }), "idempotency_conflict"],
        [await ask({ digits: "2" }, "k".repeat(129)), "idempotency_key_too_long"]
      ] as const) {
        expect(TestServer.codeOf(answer)).toBe(expected)
        world.seen.error(expected)
      }
    }
  },
  {
    name: "more work than a call has room for is refused",
    run: async (world) => {
      const { servers } = world.running()
      const { call } = await World.answered(world)
      const path = `${call.path}/actions/play`
      for (let count = 0; count < 32; count++)
        expect((await world.tenant.ask("POST", path, { url: servers.soundUrl("tone/30000.wav") })).status).toBe(200)
      expect(await call.refused("play", { url: servers.soundUrl("tone/30000.wav") })).toBe("409 conflict")
      expect(await call.refused("speak", { payload: "hello", voice: "openai.alloy" })).toBe("409 conflict")
    }
  }
]

export const rows: ReadonlyArray<Row> = [...dialled, ...every]
