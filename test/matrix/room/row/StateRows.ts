import { expect } from "vitest"
import type { Row } from "../../Row.ts"
import * as World from "../../world/World.ts"
import * as Contract from "../Contract.ts"
import * as Room from "../Room.ts"
import * as Rooms from "../Rooms.ts"

/** Every verb that is valid with one participant, in an order in which each is possible. */
const inTurn = (legId: string, sound: string): ReadonlyArray<readonly [verb: string, body: object]> => [
  ["update", { beep_enabled: "never" }],
  ["mute", { leg_ids: [legId] }],
  ["unmute", { leg_ids: [legId] }],
  ["hold", { leg_ids: [legId] }],
  ["unhold", { leg_ids: [legId] }],
  ["play", { url: sound }],
  ["stop", {}],
  ["speak", { payload: "hello", voice: "openai.alloy" }],
  ["record_start", { format: "wav" }],
  ["record_pause", {}],
  ["record_resume", {}],
  ["record_stop", {}]
]

/** All reads, which work in every state. */
const reads = async (world: World.World, room: Room.Room): Promise<void> => {
  const { id } = (await room.find()).participants[0] ?? { id: "" }
  for (const of of ["/", "/participants/list/", "/participants/upstream/", `/participants/${id}/`]) {
    const { status, text } = await world.tenant.ask("GET", `${room.path}${of}`)
    expect([of, status, status === 200 ? null : text]).toEqual([of, 200, null])
  }
}

/** Every verb in every state, guide/conferences.md#states. */
export const rows: ReadonlyArray<Row> = [
  ...(["init", "in_progress"] as const).map((state): Row => ({
    name: `every action on a room that is ${state} answers as it says`,
    run: async (world) => {
      const { host, room } = await Rooms.hosted(world, { start_on_create: state !== "init", end_on_exit: false })
      expect((await room.find()).status).toBe(state)
      const legId = await host.call.legId()
      const sound = world.running().servers.soundUrl("tone/5000.wav")
      await reads(world, room)
      for (const [verb, body] of inTurn(legId, sound)) await room.act(verb, body)
      if (state === "init")
        expect(await room.refused("supervise", { leg_id: legId, role: "monitor" })).toBe(
          "409 conference_action_invalid"
        )
      else await room.act("supervise", { leg_id: legId, role: "none" })
      const ringing = await room.dial("+12025550102")
      expect((await room.change(ringing.call_id, null)).status).toBe(200)
      const member = (await room.find()).participants[0]?.id ?? ""
      for (const body of [
        { end_on_exit: false, beep_enabled: "always" },
        { soft_end_on_exit: false, beep_enabled: "on_enter" },
        { beep_enabled: "on_exit" },
        { beep_enabled: "never" },
        {}
      ])
        expect(Room.codeOf(await room.change(member, body))).toBe("200 undefined")
      const other = await World.answered(world)
      await room.act("join", { call_id: other.call.id })
      await room.joined(other.call.id)
      expect((await room.find()).status).toBe("in_progress")
      await room.act("end")
    }
  })),
  {
    name: "every action on a room that is completed is refused, what is read stays, and nothing is told any more",
    run: async (world) => {
      const { host, room } = await Rooms.hosted(world)
      const legId = await host.call.legId()
      const { call } = await World.answered(world)
      await room.act("end")
      const told = await room.over()
      const bodies: Readonly<Record<string, object>> = {
        ...Object.fromEntries(inTurn(legId, "https://example.com/a.wav")),
        join: { call_id: call.id },
        supervise: { leg_id: legId, role: "monitor" }
      }
      for (const verb of Object.keys(Contract.verbs))
        expect([verb, await room.refused(verb, bodies[verb])]).toEqual([verb, "409 conference_already_ended"])
      // The room's own refusal comes before all other errors.
      const voice = "nobody.there"
      expect(await room.refused("speak", { payload: "hello", voice })).toBe("409 conference_already_ended")
      expect(await room.refused("join", { call_id: `svc_call_${"0".repeat(32)}` })).toBe("409 conference_already_ended")
      expect(await room.undialled({ from: "+12025559999" })).toBe("409 conference_already_ended")
      expect(await room.undialled()).toBe("409 conference_already_ended")
      const member = (await room.find()).participants[0]
      for (const body of [{ end_on_exit: true }, null])
        expect(Room.codeOf(await room.change(member?.id ?? "", body))).toBe("409 conference_already_ended")
      await reads(world, room)
      expect(await room.list()).toEqual([])
      expect((await room.list("?include_left=true")).map(({ id }) => id)).toEqual([member?.id])
      expect(room.types()).toEqual(told)
    }
  }
]
