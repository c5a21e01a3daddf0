import { expect } from "vitest"
import * as SipMessage from "../../../src/protocol/sip/message/SipMessage.ts"
import type { Row } from "../Row.ts"
import * as World from "../world/World.ts"

/** Reads of calls, and the details that the far end gets. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "custom headers of an answer stand on the 200",
    only: "sip",
    run: async (world) => {
      const { call } = await World.offered(world)
      await call.act("answer", { custom_headers: [{ name: "X-Answered-By", value: call.id }] })
      await world
        .running()
        .peer.finals.next("the answer", (each) => SipMessage.header(each, "X-Answered-By") === call.id)
      await call.event("call.answered")
    }
  },
  {
    name: "a call to a number of nobody is answered 404, and to one of a suspended tenant 486; nothing is told",
    only: "sip",
    run: async (world) => {
      const { operate, peer, tenant: another } = world.running()
      const finalOf = (key: string) =>
        peer.finals.next(key, (each) => SipMessage.header(each, "Call-ID") === `call-${key}`)
      await peer.call("+12025559998", "nobody")
      expect((await finalOf("nobody")).status).toBe(404)
      const suspended = await another("sip")
      await operate("tenant/suspend", { tenant: suspended.id })
      await peer.call(suspended.number, "suspended")
      expect((await finalOf("suspended")).status).toBe(486)
      expect(world.running().delivered.all.all.filter(({ data }) => data["to"] === suspended.number)).toEqual([])
    }
  },
  {
    name: "the number that calls and custom headers stand on the INVITE",
    only: "sip",
    run: async (world) => {
      const call = await World.dial(world, "+12025550100", { custom_headers: [{ name: "X-Shown", value: "as it is" }] })
      const invite = await world
        .running()
        .peer.invites.next("its INVITE", (each) => SipMessage.header(each, "X-Shown") === "as it is")
      expect(SipMessage.header(invite, "From")).toContain(world.tenant.number)
      await call.event("call.answered")
    }
  },
  {
    name: "a call is listed by status, direction, numbers and time, abbreviated; retrieved it has its legs",
    run: async (world) => {
      const before = new Date(Date.now() - 60_000).toISOString()
      const { call } = await World.answered(world, { route_id: await route(world), customer_reference: "listed" })
      const query = `status=answered&direction=outbound&from_number=${encodeURIComponent(world.tenant.number)}&to_number=${encodeURIComponent(world.ends.number)}&customer_reference=listed&initiated_after=${before}&page=1&page_size=200`
      const { results } = (await world.tenant.ask("GET", `/v1/calls?${query}`)).json as {
        readonly results: ReadonlyArray<{ readonly id: string; readonly legs: ReadonlyArray<unknown> }>
      }
      expect(results.find(({ id }) => id === call.id)).toMatchObject({
        legs: [],
        recordings: [],
        customer_reference: "listed"
      })
      expect((await call.find()).legs).toMatchObject([
        { call_id: call.id, role: "primary", direction: "outbound", status: "answered", bridged_leg_id: null }
      ])
      expect((await world.tenant.ask("GET", "/v1/calls?from=%2B12025550100")).status).toBe(400)
    }
  }
]

const route = async (world: World.World): Promise<string> => {
  const { results } = (await world.tenant.ask("GET", "/v1/connections")).json as {
    readonly results: ReadonlyArray<{ readonly id: string; readonly is_default: boolean }>
  }
  return results.find(({ is_default }) => is_default)?.id ?? ""
}
