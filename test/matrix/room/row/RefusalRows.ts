import { expect } from "vitest"
import type { Row } from "../../Row.ts"
import * as World from "../../world/World.ts"
import * as Contract from "../Contract.ts"
import * as Room from "../Room.ts"
import * as Rooms from "../Rooms.ts"

/** A tenant for this row, whose account the operator may change. */
const own = async (world: World.World) => {
  const tenant = await world.running().tenant(world.carrier)
  const { operate } = world.running()
  const of: World.World = { ...world, tenant }
  return {
    world: of,
    quota: (quota: object) => operate("tenant/quota", { tenant: tenant.id, ...quota }),
    rule: async (operation: string, value: string) =>
      (await operate(`destinations/${operation}`, { tenant: tenant.id, value })) as { readonly id: string },
    forget: ({ id }: { readonly id: string }) => operate("destinations/remove", { id }),
    credit: (cents: number) => operate("tenant/credit", { tenant: tenant.id, cents, reason: "a row" })
  }
}

interface Key {
  readonly id: string
  readonly api_key_plaintext: string
}

/** Refusals for reasons outside of the room. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "who is dialled in is refused as any placed call is, a from that is not ours with 422, and nothing rings",
    run: async (world) => {
      const { forget, quota, rule, world: of } = await own(world)
      const { room } = await Rooms.hosted(of)
      expect(await room.undialled({ from: "+12025559999" })).toBe("422 from_number_not_owned")
      expect(await room.undialled({ caller_id_forwarding: true })).toBe("422 caller_id_forwarding_not_allowed")
      expect(await room.undialled({ route_id: `svc_route_${"0".repeat(32)}` })).toBe("404 not_found")
      const prefix = await rule("block-prefix", "+1202")
      expect(await room.undialled()).toBe("403 prefix_blocked")
      await forget(prefix)
      const country = await rule("block-country", "US")
      expect(await room.undialled()).toBe("403 country_blocked")
      await forget(country)
      await quota({ concurrent_call_limit: 1 })
      expect(await room.undialled()).toBe("403 concurrent_call_cap_exceeded")
      await quota({ concurrent_call_limit: 100, daily_spend_cap_cents: 1 })
      expect(await room.undialled()).toBe("403 daily_spend_cap_exceeded")
      await quota({ daily_spend_cap_cents: null, allow_caller_id_forwarding: true })
      expect((await room.list("?include_left=true")).length).toBe(1)
      const member = await room.dial("+12025550102", { from: "+12025559999", caller_id_forwarding: true })
      expect((await room.change(member.call_id, null)).status).toBe(200)
      await Room.settled(room)
    }
  },
  {
    name: "a room and who joins it are refused as a placed call is where a minute there is not covered, or over a cap",
    run: async (world) => {
      const { credit, quota, world: of } = await own(world)
      const [one, two] = await Promise.all([World.answered(of), World.answered(of)])
      const room = await Room.create(of, one.call.id)
      await room.joined(one.call.id)
      for (const period of ["daily", "monthly"] as const) {
        await quota({ [`${period}_spend_cap_cents`]: 1 })
        const code = `403 ${period}_spend_cap_exceeded`
        expect(await room.refused("join", { call_id: two.call.id })).toBe(code)
        expect(Room.codeOf(await Room.creation(of, two.call.id))).toBe(code)
        await quota({ [`${period}_spend_cap_cents`]: null })
      }
      expect((await room.list("?include_left=true")).length).toBe(1)
      const { balance_cents } = (await of.tenant.ask("GET", "/v1/billing/balance")).json as {
        readonly balance_cents: number
      }
      // The two calls reserve the rest of the balance.
      await credit(-balance_cents + 3)
      expect(await room.refused("join", { call_id: two.call.id })).toBe("402 balance_insufficient")
      expect(Room.codeOf(await Room.creation(of, two.call.id))).toBe("402 balance_insufficient")
      expect(await room.undialled()).toBe("402 balance_insufficient")
      await Room.settled(room)
      await two.call.over()
    }
  },
  {
    name: "what is wrong with the room is said before what is wrong with the request, and that before money",
    run: async (world) => {
      const { quota, world: of } = await own(world)
      const { room } = await Rooms.hosted(of, { max_participants: 2 })
      const { call } = await World.answered(of)
      const speak = (fields: object) => room.refused("speak", { payload: "hello", voice: "nobody.there", ...fields })
      expect(await speak({ leg_ids: [Contract.nobody] })).toBe("404 member_not_found")
      expect(await speak({})).toBe("422 unprocessable")
      const ringing = await room.dial("+12025550102")
      await quota({ daily_spend_cap_cents: 1 })
      expect(await room.refused("join", { call_id: call.id })).toBe("409 conference_full")
      expect(await room.undialled()).toBe("409 conference_full")
      expect(await room.undialled({ from: "+12025559999" })).toBe("409 conference_full")
      await room.change(ringing.call_id, null)
      expect(await room.undialled({ from: "+12025559999" })).toBe("422 from_number_not_owned")
      expect(await room.undialled()).toBe("403 daily_spend_cap_exceeded")
      expect(await room.refused("join", { call_id: call.id })).toBe("403 daily_spend_cap_exceeded")
      await Room.settled(room)
      await call.over()
    }
  },
  {
    name: "a minute in the room is charged to each call that was in it, once, and shown in the usage",
    run: async (world) => {
      const { world: of } = await own(world)
      const { operate } = world.running()
      const { guests, host, room } = await Rooms.peopled(of, 1)
      await room.act("end")
      const calls = [host.call, ...guests.map(({ call }) => call)]
      await Promise.all(calls.map((call) => call.over()))
      const { results } = (await operate("ledger/list", { tenant: of.tenant.id, limit: 200 })) as {
        readonly results: ReadonlyArray<{
          readonly type: string
          readonly amount_cents: number
          readonly reference_id: string | null
        }>
      }
      const ofType = (type: string) => results.filter((entry) => entry.type === type)
      expect(
        ofType("conference_charge")
          .map(({ amount_cents, reference_id }) => `${reference_id} ${amount_cents}`)
          .toSorted()
      ).toEqual(calls.map(({ id }) => `${id} ${-World.cents.conference}`).toSorted())
      const usage = (await of.tenant.ask("GET", "/v1/usage")).json as { readonly totals: object }
      expect(usage.totals).toMatchObject({ conference_participant_minutes: 2 })
    }
  },
  {
    name: "a room has no more participants than the plan allows, by creation or by update",
    run: async (world) => {
      const { world: of } = await own(world)
      const slug = `row-${world.carrier}`
      await world.running().operate("plan/set", { slug, name: slug, fee: 0, conference_participants: 5, public: true })
      const { status, text } = await of.tenant.ask("PUT", "/v1/billing/subscription", { plan_slug: slug })
      expect(status, text).toBe(200)
      const { call } = await World.answered(of)
      const refused = await Room.creation(of, call.id, { max_participants: 6 })
      expect(Room.codeOf(refused)).toBe("422 unprocessable")
      expect(refused.json).toMatchObject({ error: { param: "max_participants" } })
      const room = await Room.create(of, call.id, { max_participants: 5 })
      expect(await room.refused("update", { max_participants: 6 })).toBe("422 unprocessable")
      expect(await room.act("update", { max_participants: 4 })).toMatchObject({ max_participants: 4 })
      expect(await room.act("update", { max_participants: 5 })).toMatchObject({ max_participants: 5 })
      await Room.settled(room)
    }
  },
  {
    name: "a room of somebody else is not found by any endpoint",
    run: async (world) => {
      const { host, room } = await Rooms.hosted(world)
      const other = world.running().worlds[world.carrier === "sip" ? "simulator" : "sip"].tenant
      const legs = { leg_ids: [await host.call.legId()] }
      const member = (await room.find()).participants[0]?.id ?? ""
      const of = (path: string) => `${room.path}${path}`
      const asked: ReadonlyArray<readonly [string, string, object?]> = [
        ["GET", "/"],
        ["GET", "/participants/list/"],
        ["GET", "/participants/upstream/"],
        ["GET", `/participants/${member}/`],
        ["PATCH", `/participants/${member}/`, { end_on_exit: true }],
        ["DELETE", `/participants/${host.call.id}/`],
        ["POST", "/participants/", { from: other.number, to: "+12025550102" }],
        ["POST", "/actions/update/", {}],
        ["POST", "/actions/end/"],
        ["POST", "/actions/join/", { call_id: host.call.id }],
        ...["mute", "unmute", "hold", "unhold"].map((verb) => ["POST", `/actions/${verb}/`, legs] as const),
        ["POST", "/actions/play/", { url: "https://example.com/a.wav" }],
        ["POST", "/actions/speak/", { payload: "x", voice: "openai.alloy" }],
        ["POST", "/actions/speak/", { payload: "x", voice: "nobody.there" }],
        ["POST", "/actions/stop/"],
        ["POST", "/actions/record_start/", { format: "wav" }],
        ...["record_stop", "record_pause", "record_resume"].map((verb) => ["POST", `/actions/${verb}/`] as const),
        ["POST", "/actions/supervise/", { leg_id: legs.leg_ids[0], role: "barge" }]
      ]
      for (const [method, path, body] of asked)
        expect([method, path, Room.codeOf(await other.ask(method, of(path), body))]).toEqual([
          method,
          path,
          "404 not_found"
        ])
      const { results } = (await other.ask("GET", `/v1/conferences/?name=${encodeURIComponent(room.name)}`)).json as {
        readonly results: ReadonlyArray<Room.View>
      }
      expect(results.filter(({ id }) => id === room.id)).toEqual([])
      expect((await room.find()).status).toBe("in_progress")
    }
  },
  {
    name: "rooms are read with calls:read and changed with calls:write, and not without a key",
    run: async (world) => {
      const { host, room } = await Rooms.hosted(world)
      const { ask } = world.running()
      const keyOf = async (scopes: ReadonlyArray<string>) =>
        ((await world.tenant.ask("POST", "/v1/api-keys/", { name: "a row", scopes })).json as Key).api_key_plaintext
      const [reader, other] = [await keyOf(["calls:read"]), await keyOf(["webhooks:read"])]
      const code = async (key: string | null, method: string, path: string) => Room.codeOf(await ask(key, method, path))
      const member = (await room.find()).participants[0]?.id ?? ""
      const reads = ["/", "/participants/list/", "/participants/upstream/", `/participants/${member}/`]
      for (const path of [...reads.map((read) => room.path + read), "/v1/conferences/"]) {
        expect([path, await code(reader, "GET", path)]).toEqual([path, "200 undefined"])
        expect([path, await code(other, "GET", path)]).toEqual([path, "403 forbidden"])
        expect([path, await code(null, "GET", path)]).toEqual([path, "401 authentication_required"])
      }
      const changes: ReadonlyArray<readonly [string, string]> = [
        ["POST", "/v1/conferences/"],
        ["POST", `${room.path}/participants/`],
        ["PATCH", `${room.path}/participants/${member}/`],
        ["DELETE", `${room.path}/participants/${host.call.id}/`],
        ...Object.keys(Contract.verbs).map((verb) => ["POST", `${room.path}/actions/${verb}/`] as const)
      ]
      for (const [method, path] of changes)
        expect([path, await code(reader, method, path)]).toEqual([path, "403 forbidden"])
      world.seen.error("forbidden")
      world.seen.error("authentication_required")
      expect((await room.find()).status).toBe("in_progress")
    }
  }
]
