import { expect } from "vitest"
import type { Row } from "../../Row.ts"
import * as World from "../../world/World.ts"
import * as Room from "../Room.ts"
import * as Rooms from "../Rooms.ts"

const isEnded = (by: string) => ({ status: "ended", end_reason: "conference_ended", end_initiator: by })

/** How rooms begin and end, guide/conferences.md#states. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "a room is created around an answered call, is live with its host in it, and ends with all of its calls",
    run: async (world) => {
      const host = await World.answered(world)
      const room = await Room.create(world, host.call.id, {
        beep_enabled: "always",
        start_on_create: true,
        end_on_exit: true,
        max_participants: 7,
        duration_minutes: 30
      })
      expect(await room.event("conference.started")).toEqual({
        conference_id: room.id,
        call_id: host.call.id,
        leg_id: await host.call.legId(),
        customer_reference: "a row",
        name: room.name,
        host_call_id: host.call.id
      })
      const member = await room.joined(host.call.id)
      expect(member).toMatchObject({ role: "host", leg_id: await host.call.legId(), left_at: null, is_muted: false })
      const bridged = await host.call.until("it is in the room", ({ status }) => status === "bridged")
      expect(bridged.legs[0]).toMatchObject({ conference_id: room.id })
      const live = await room.find()
      expect(live).toMatchObject({
        status: "in_progress",
        beep_enabled: "always",
        max_participants: 7,
        duration_minutes: 30,
        ended_at: null
      })
      expect(live.participants.map(({ call_id }) => call_id)).toEqual([host.call.id])
      const { call } = await Rooms.guest(world, room)
      const ended = await room.act("end", { region: "Europe" })
      expect(ended).toMatchObject({ status: "completed", name: room.name })
      expect(await room.refused("end")).toBe("409 conference_already_ended")
      for (const each of [host.call, call]) {
        await each.event("call.ended")
        expect(await each.find()).toMatchObject(isEnded("api"))
      }
      await host.far.gone()
      expect((await room.over()).toSorted()).toEqual([
        "conference.ended",
        "conference.member_joined",
        "conference.member_joined",
        "conference.member_left",
        "conference.member_left",
        "conference.started"
      ])
    }
  },
  {
    name: "a room with start_on_create false waits for the second who comes in, and can be ended before",
    run: async (world) => {
      const [{ room }, waiting] = await Promise.all([
        Rooms.hosted(world, { start_on_create: false, beep_enabled: "never" }),
        Rooms.hosted(world, { start_on_create: false, beep_enabled: "on_enter" })
      ])
      expect(await room.find()).toMatchObject({ status: "init", started_at: null, start_on_create: false })
      expect(room.types()).toEqual(["conference.member_joined"])
      await Rooms.guest(world, room)
      await room.event("conference.started")
      expect((await room.find()).status).toBe("in_progress")
      expect(await waiting.room.act("end")).toMatchObject({ status: "completed", started_at: null })
      expect(await waiting.room.event("conference.ended")).toMatchObject({ duration_seconds: 0 })
      expect(waiting.room.types()).not.toContain("conference.started")
    }
  },
  {
    name: "a room that waits for its second participant holds the first with music, and ends when it is left alone",
    run: async (world) => {
      const { host, hostLeg, room } = await Rooms.hosted(world, {
        start_on_create: false,
        end_on_exit: false,
        hold_audio_url: world.running().servers.soundUrl("tone/300.wav"),
        end_when_alone_secs: 1,
        on_member_left: "hangup"
      }).then(async (hosted) => ({ ...hosted, hostLeg: await hosted.host.call.legId() }))
      await room.event("conference.member_held", 1, ({ leg_id }) => leg_id === hostLeg)
      const { call, member } = await Rooms.guest(world, room, {
        role: "barge",
        beep_enabled: "never",
        end_on_exit: false,
        soft_end_on_exit: false
      })
      await room.event("conference.member_unheld", 1, ({ leg_id }) => leg_id === hostLeg)
      expect(await room.event("conference.member_role_changed")).toMatchObject({
        member_id: member.id,
        supervisor_role: "barge"
      })
      const sound = world.running().servers.soundUrl("tone/300.wav")
      expect(
        await room.act("update", {
          end_when_alone_secs: 2,
          on_member_left: "play",
          on_member_left_audio_url: sound
        })
      ).toMatchObject({ end_when_alone_secs: 2, on_member_left: "play" })
      expect(await room.refused("update", { on_member_left: "play" })).toBe("400 invalid_request")
      await call.act("hangup")
      expect(await room.event("conference.ended")).toMatchObject({ reason: "alone" })
      await host.call.event("call.ended")
    }
  },
  {
    name: "a host that leaves ends its room where end_on_exit is true, and all others are hung up by the system",
    run: async (world) => {
      const { guests, host, room } = await Rooms.peopled(world, 2)
      await host.far.hangUp()
      await room.event("conference.ended")
      for (const { call } of guests) {
        await call.event("call.ended")
        expect(await call.find()).toMatchObject(isEnded("system"))
      }
      expect(await host.call.find()).toMatchObject({ end_reason: "normal_clearing" })
    }
  },
  {
    name: "a room whose host left without end_on_exit goes on until the last one leaves, and ends by itself",
    run: async (world) => {
      const { guests, host, room } = await Rooms.peopled(world, 2, { end_on_exit: false, beep_enabled: "on_exit" })
      const [one, two] = guests
      await host.far.hangUp()
      expect(await room.left(host.call.id)).toMatchObject({ role: "host" })
      const members = (await room.find()).participants
      expect(members.find(({ role }) => role === "host")?.left_at).not.toBeNull()
      await one?.far.hangUp()
      await room.left(one?.call.id ?? "")
      expect((await room.find()).status).toBe("in_progress")
      await two?.call.act("hangup")
      expect((await room.over()).slice(-2)).toEqual(["conference.member_left", "conference.ended"])
    }
  },
  {
    name: "the last one who is taken out ends the room and is not hung up",
    run: async (world) => {
      const { host, room } = await Rooms.hosted(world, { end_on_exit: false })
      expect((await room.change(host.call.id, null)).status).toBe(200)
      await room.event("conference.ended")
      await host.call.until("it is answered again", ({ status }) => status === "answered")
    }
  },
  {
    name: "a participant with end_on_exit ends the room, one with soft_end_on_exit once nobody is off hold",
    run: async (world) => {
      const [hard, soft] = await Promise.all([Rooms.peopled(world, 2), Rooms.peopled(world, 2, { end_on_exit: false })])
      const [one] = hard.guests
      expect((await hard.room.change(one?.member.id ?? "", { end_on_exit: true })).status).toBe(200)
      await one?.far.hangUp()
      await hard.room.event("conference.ended")

      const [two, three] = soft.guests
      expect((await soft.room.change(two?.member.id ?? "", { soft_end_on_exit: true })).status).toBe(200)
      await soft.room.act("hold", { leg_ids: [three?.legId] })
      await soft.room.until("it is on hold", ({ participants }) => participants.some(({ is_on_hold }) => is_on_hold))
      await two?.far.hangUp()
      await soft.room.left(two?.call.id ?? "")
      expect((await soft.room.find()).status).toBe("in_progress")
      await soft.host.far.hangUp()
      await soft.room.event("conference.ended")
      await three?.call.event("call.ended")
      expect(await three?.call.find()).toMatchObject(isEnded("system"))
    }
  },
  {
    name: "the host of a room may be exempted from ending it",
    run: async (world) => {
      const { host, guests, room } = await Rooms.peopled(world, 1)
      const member = (await room.find()).participants.find(({ role }) => role === "host")
      const changed = await room.change(member?.id ?? "", { end_on_exit: false })
      expect(changed.json).toMatchObject({ id: member?.id, role: "host" })
      await host.far.hangUp()
      await room.left(host.call.id)
      expect((await room.find()).status).toBe("in_progress")
      await guests[0]?.far.hangUp()
      await room.event("conference.ended")
    }
  },
  {
    name: "update changes what holds from then on, and not below those who are there",
    run: async (world) => {
      const { room } = await Rooms.peopled(world, 2)
      expect(
        await room.act("update", {
          duration_minutes: 5,
          beep_enabled: "on_exit",
          end_on_exit: false,
          max_participants: 3
        })
      ).toMatchObject({ duration_minutes: 5, beep_enabled: "on_exit", end_on_exit: false, max_participants: 3 })
      expect(await room.refused("update", { max_participants: 2 })).toBe("422 unprocessable")
      expect(await room.act("update")).toMatchObject({ max_participants: 3 })
      for (const beep_enabled of ["never", "on_enter", "always"])
        expect(await room.act("update", { beep_enabled, end_on_exit: true })).toMatchObject({ beep_enabled })
    }
  },
  {
    name: "a name is one room's until that is completed, and two creations at once give one room",
    run: async (world) => {
      const [one, two] = await Promise.all([World.answered(world), World.answered(world)])
      const name = `${Room.freshName()} 100%_`
      const answers = await Promise.all([one, two].map(({ call }) => Room.creation(world, call.id, { name })))
      expect(answers.map(Room.codeOf).toSorted()).toEqual(["201 undefined", "409 conflict"].toSorted())
      const made = answers.find(({ status }) => status === 201)?.json as Room.View
      const room = Room.of(world, made)
      const [other] = [one, two].filter(({ call }) => call.id !== made.host_call_id)
      if (other === undefined) throw new Error("both are hosts")
      await room.over()
      const again = await Room.create(world, other.call.id, { name })
      expect(again.id).not.toBe(room.id)
      await again.joined(other.call.id)
    }
  },
  {
    name: "a host has to be a call of ours that is answered and in no room",
    run: async (world) => {
      const [ringing, { host, room }] = await Promise.all([World.place(world), Rooms.hosted(world)])
      const refused = async (id: string) => Room.codeOf(await Room.creation(world, id))
      await ringing.call.event("call.ringing")
      expect(await refused(ringing.call.id)).toBe("409 call_not_in_required_state")
      expect(await refused(host.call.id)).toBe("409 conflict")
      expect(await refused(`svc_call_${"0".repeat(32)}`)).toBe("404 not_found")
      expect(await refused("svc_call_1")).toBe("404 not_found")
      expect(await refused("call")).toBe("400 invalid_request")
      await ringing.call.act("hangup")
      expect(await refused(ringing.call.id)).toBe("409 call_not_in_required_state")
      const other = world.running().worlds[world.carrier === "sip" ? "simulator" : "sip"].tenant
      const { call } = await World.answered(world)
      const foreign = await other.ask("POST", "/v1/conferences/", { name: "x", host_call_id: call.id })
      expect(Room.codeOf(foreign)).toBe("404 not_found")
      expect((await room.find()).status).toBe("in_progress")
    }
  },
  {
    name: "a bridged call may be host, and leaves its bridge",
    run: async (world) => {
      const [one, other] = await World.bridged(world)
      const room = await Room.create(world, one.call.id)
      await room.joined(one.call.id)
      await other.call.until("it is answered again", ({ status }) => status === "answered")
      expect((await one.call.find()).legs[0]).toMatchObject({ conference_id: room.id, bridged_leg_id: null })
    }
  }
]
