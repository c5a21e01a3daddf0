import { expect } from "vitest"
import type { Row } from "../../Row.ts"
import * as World from "../../world/World.ts"
import * as Contract from "../Contract.ts"
import * as Room from "../Room.ts"
import * as Rooms from "../Rooms.ts"

const participantOf = (view: Room.View, id: string) => view.participants.find((each) => each.id === id)

/** How members come, go and are heard. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "a call joins, muted or on hold where it asks for that, and is in one room at a time",
    run: async (world) => {
      const { host, room } = await Rooms.hosted(world)
      const [one, two] = await Promise.all([
        Rooms.guest(world, room, { mute: true, region: "US" }),
        Rooms.guest(world, room, {
          hold: true,
          hold_audio_url: world.running().servers.soundUrl("tone/300.wav")
        })
      ])
      const whispering = await Rooms.guest(world, room, { role: "whisper", whisper_leg_ids: [await host.call.legId()] })
      expect(await room.event("conference.member_role_changed")).toMatchObject({
        member_id: whispering.member.id,
        supervisor_role: "whisper",
        whisper_leg_ids: [await host.call.legId()]
      })
      const unheard = { call_id: one.call.id, role: "whisper", whisper_leg_ids: [Contract.nobody] }
      expect(
        (
          await world.tenant.ask("POST", `${room.path}/participants/`, {
            from: world.tenant.number,
            to: "+12025550102",
            mute: true,
            role: "whisper",
            whisper_leg_ids: unheard.whisper_leg_ids
          })
        ).status
      ).toBe(404)
      await room.change(whispering.call.id, null)
      await room.left(whispering.call.id)
      expect(one.member).toMatchObject({ role: "participant", is_muted: true, is_on_hold: false })
      expect(two.member).toMatchObject({ is_muted: false, is_on_hold: true })
      expect(await room.refused("join", { call_id: one.call.id })).toBe("409 conflict")
      const other = await Rooms.hosted(world)
      expect(await other.room.refused("join", { call_id: one.call.id })).toBe("409 conflict")
      expect(await room.refused("join", { call_id: `svc_call_${"0".repeat(32)}` })).toBe("404 not_found")
      const ringing = await World.place(world)
      await ringing.call.event("call.ringing")
      expect(await room.refused("join", { call_id: ringing.call.id })).toBe("409 call_not_in_required_state")
      await ringing.call.act("hangup")
      expect(await room.refused("join", { call_id: ringing.call.id })).toBe("409 call_not_in_required_state")
      expect((await room.list()).map(({ call_id }) => call_id).toSorted()).toEqual(
        [host.call.id, one.call.id, two.call.id].toSorted()
      )
    }
  },
  {
    name: "a bridged call joins and leaves its bridge; the leg of a transfer is hung up",
    run: async (world) => {
      const { room } = await Rooms.hosted(world)
      const [[one, other], transferred] = await Promise.all([World.bridged(world), World.answered(world)])
      await room.act("join", { call_id: one.call.id, mute: false, hold: false })
      await room.joined(one.call.id)
      await other.call.until("it is answered again", ({ status }) => status === "answered")
      await transferred.call.act("transfer", { to: "+12025550116" })
      await transferred.call.event("call.bridged")
      await room.act("join", { call_id: transferred.call.id })
      await room.joined(transferred.call.id)
      await transferred.call.until("its other leg is hung up", ({ legs }) =>
        legs.every(({ role, status }) => role === "primary" || status === "ended")
      )
    }
  },
  {
    name: "a participant is taken out by its call or by its own id, goes on as answered, and may join again as another one",
    run: async (world) => {
      const { guests, room } = await Rooms.peopled(world, 2)
      const [one, two] = guests
      if (one === undefined || two === undefined) throw new Error("nobody came")
      const out = await room.change(one.call.id, null)
      expect(out.json).toMatchObject({ id: one.member.id, call_id: one.call.id })
      await room.left(one.call.id)
      expect((await room.change(two.member.id, null)).status).toBe(200)
      await room.left(two.call.id)
      for (const { call } of [one, two]) {
        const view = await call.until("it is answered again", ({ status }) => status === "answered")
        expect(view.legs[0]).toMatchObject({ conference_id: null })
      }
      expect(Room.codeOf(await room.change(one.call.id, null))).toBe("404 member_not_found")
      await room.act("join", { call_id: one.call.id })
      const again = await room.event("conference.member_joined", 2, ({ call_id }) => call_id === one.call.id)
      expect(again["member_id"]).not.toBe(one.member.id)
      const view = await room.find()
      expect(participantOf(view, one.member.id)?.left_at).not.toBeNull()
      expect(participantOf(view, String(again["member_id"]))?.left_at).toBeNull()
    }
  },
  {
    name: "a call in a room is bridged: it is neither bridged nor referred from there, and leaves when another call takes its leg",
    run: async (world) => {
      const { guests, room } = await Rooms.peopled(world, 1)
      const [guest] = guests
      if (guest === undefined) throw new Error("nobody came")
      const other = await World.answered(world)
      const refused = "409 call_not_in_required_state"
      expect(await guest.call.refused("bridge", { leg_id: await other.call.legId() })).toBe(refused)
      expect(await guest.call.refused("refer", { sip_address: "sip:a@example.com" })).toBe(refused)
      await other.call.act("bridge", { leg_id: guest.legId })
      await room.left(guest.call.id)
      const apart = await guest.call.until(
        "it is bridged with the other",
        ({ legs, status }) => status === "bridged" && legs[0]?.bridged_leg_id !== null
      )
      expect(apart.legs[0]).toMatchObject({ conference_id: null, bridged_leg_id: await other.call.legId() })
      expect((await room.list()).length).toBe(1)
      await room.act("join", { call_id: guest.call.id })
      await room.joined(guest.call.id, 2)
      await other.call.until("it is by itself", ({ status }) => status === "answered")
    }
  },
  {
    name: "a call that is transferred out of a room leaves it",
    run: async (world) => {
      const { guests, room } = await Rooms.peopled(world, 1)
      const [one] = guests
      await one?.call.act("transfer", { to: "+12025550116" })
      await room.left(one?.call.id ?? "")
      const view = await one?.call.until(
        "it is connected elsewhere",
        ({ legs, status }) => status === "bridged" && legs.length === 2
      )
      expect(view?.legs[0]).toMatchObject({ conference_id: null })
      expect((await room.find()).status).toBe("in_progress")
    }
  },
  {
    name: "somebody is dialled in: the participant rings, comes in when it answers, and its call has the reference",
    run: async (world) => {
      const { room } = await Rooms.hosted(world)
      const { results } = (await world.tenant.ask("GET", "/v1/connections")).json as {
        readonly results: ReadonlyArray<{ readonly id: string; readonly is_default: boolean }>
      }
      const member = await room.dial("+12025550100", {
        timeout_secs: 30,
        customer_reference: "order 9",
        route_id: results.find(({ is_default }) => is_default)?.id,
        mute: true,
        role: "monitor"
      })
      expect(member).toMatchObject({ role: "participant", joined_at: null, left_at: null, conference_id: room.id })
      const joined = await room.joined(member.call_id)
      expect(joined).toMatchObject({ id: member.id, is_on_hold: false, is_muted: true })
      const tape = world.running().delivered.of(member.call_id)
      const started = await tape.next("its beginning", ({ event_type }) => event_type === "call.started")
      expect(started.data).toMatchObject({ customer_reference: "order 9", direction: "outbound" })
      expect((await room.change(member.call_id, null)).status).toBe(200)
      await room.left(member.call_id)
      const call = await world.tenant.ask("GET", `/v1/calls/${member.call_id}`)
      expect(call.json).toMatchObject({ status: "answered", customer_reference: "order 9" })
      await world.tenant.ask("POST", `/v1/calls/${member.call_id}/actions/hangup`)
    }
  },
  {
    name: "one who is busy or rings in vain has left and never joined; one who rings is hung up when it is taken out",
    run: async (world) => {
      const { room } = await Rooms.hosted(world)
      const [busy, late, ringing] = await Promise.all([
        room.dial("+12025550101"),
        room.dial("+12025550102", { timeout_secs: 1 }),
        room.dial("+12025550102")
      ])
      const out = await room.change(ringing.call_id, null)
      expect(out.json).toMatchObject({ id: ringing.id, joined_at: null })
      const view = await room.until("all have left", ({ participants }) =>
        participants.every(({ left_at, role }) => role === "host" || left_at !== null)
      )
      for (const { id } of [busy, late, ringing]) expect(participantOf(view, id)).toMatchObject({ joined_at: null })
      const reasons = await Promise.all(
        [busy, late, ringing].map(async ({ call_id }) => {
          const tape = world.running().delivered.of(call_id)
          return (await tape.next("its end", ({ event_type }) => event_type === "call.ended")).data["end_reason"]
        })
      )
      expect(reasons).toEqual(["user_busy", "timeout", "cancelled"])
      expect(room.types().filter((type) => type === "conference.member_joined").length).toBe(1)
      expect(await room.list()).toHaveLength(1)
      expect(await room.list("?include_left=true")).toHaveLength(4)
    }
  },
  {
    name: "the end of a room hangs up who rings for it",
    run: async (world) => {
      const { room } = await Rooms.hosted(world)
      const ringing = await room.dial("+12025550102")
      await room.act("end")
      const tape = world.running().delivered.of(ringing.call_id)
      await tape.next("its end", ({ event_type }) => event_type === "call.ended")
      expect((await world.tenant.ask("GET", `/v1/calls/${ringing.call_id}`)).json).toMatchObject({
        end_reason: "conference_ended",
        end_initiator: "api"
      })
    }
  },
  {
    name: "mute and hold are told and shown, for the legs that are named and no other",
    run: async (world) => {
      const { guests, hostLeg, room } = await Rooms.peopled(world, 2)
      const [one, two] = guests
      if (one === undefined || two === undefined) throw new Error("nobody came")
      const legs = [one.legId, hostLeg]
      await room.act("mute", { leg_ids: legs, region: "Middle East" })
      await room.event("conference.member_muted", 2)
      const muted = await room.list("?muted=true")
      expect(muted.map(({ leg_id }) => String(leg_id)).toSorted()).toEqual(legs.toSorted())
      expect((await room.list("?muted=false&on_hold=false")).map(({ id }) => id)).toEqual([two.member.id])
      await room.act("hold", {
        leg_ids: [two.legId],
        audio_url: world.running().servers.soundUrl("tone/300.wav"),
        region: "Australia"
      })
      await room.until("it is on hold", (view) => participantOf(view, two.member.id)?.is_on_hold === true)
      expect((await room.list("?on_hold=true")).map(({ id }) => id)).toEqual([two.member.id])
      await room.act("unhold", { leg_ids: [two.legId], region: "US" })
      await room.until("it is back", (view) => participantOf(view, two.member.id)?.is_on_hold === false)
      await room.act("hold", { leg_ids: [two.legId], audio_url: world.running().servers.soundUrl("missing.wav") })
      const unheard = await room.event("conference.playback_ended")
      expect(unheard).toMatchObject({ status: "failed", reason: "http_404", held_leg_id: two.legId })
      await room.act("unhold", { leg_ids: [two.legId] })
      await room.until("it is back again", (view) => participantOf(view, two.member.id)?.is_on_hold === false)
      await room.act("unmute", { leg_ids: legs, region: "Europe" })
      await room.event("conference.member_unmuted", 2)
      expect(await room.list("?muted=true")).toEqual([])
      // A member that is already so does not change.
      await room.act("unmute", { leg_ids: legs })
      await room.act("mute", { leg_ids: [two.legId] })
      await room.event("conference.member_muted", 3)
      expect(room.types().filter((type) => type === "conference.member_unmuted")).toHaveLength(2)
    }
  },
  {
    name: "a leg that is not in the room is not found by any action, and then nothing is changed for the others",
    run: async (world) => {
      const { guests, room } = await Rooms.peopled(world, 1)
      const [one] = guests
      const outside = await World.answered(world)
      const legs = [one?.legId, await outside.call.legId()]
      const { servers } = world.running()
      for (const [verb, body] of Object.entries({
        mute: {},
        unmute: {},
        hold: {},
        unhold: {},
        play: { url: servers.soundUrl("tone/100.wav") },
        speak: { payload: "hello", voice: "openai.alloy" },
        stop: {}
      }))
        expect([verb, await room.refused(verb, { leg_ids: legs, ...body })]).toEqual([verb, "404 member_not_found"])
      expect(await room.refused("supervise", { leg_id: legs[1], role: "barge" })).toBe("404 member_not_found")
      expect(
        await room.refused("supervise", { leg_id: legs[0], role: "whisper", whisper_leg_ids: [Contract.nobody] })
      ).toBe("404 member_not_found")
      expect((await room.list("?muted=false&on_hold=false")).length).toBe(2)
    }
  },
  {
    name: "who speaks is told from what it says, and stands first in the list",
    run: async (world) => {
      const { guests, room } = await Rooms.peopled(world, 2)
      const [, two] = guests
      await two?.far.say(1500)
      const started = await room.event(
        "conference.member_speaking_started",
        1,
        (data) => data["call_id"] === two?.call.id
      )
      expect(started["member_id"]).toBe(two?.member.id)
      const [first] = await room.list()
      expect(first).toMatchObject({ id: two?.member.id, is_speaking: true })
      await room.event("conference.member_speaking_ended", 1, (data) => data["call_id"] === two?.call.id)
      expect((await room.find()).participants.map(({ is_speaking }) => is_speaking)).toEqual([false, false, false])
    }
  },
  {
    name: "supervisors have their role at the carrier, and whisper to whom they name",
    run: async (world) => {
      const { guests, hostLeg, room } = await Rooms.peopled(world, 2)
      const [one, two] = guests
      if (one === undefined || two === undefined) throw new Error("nobody came")
      const asks = async (role: string, more: object = {}) => {
        await room.act("supervise", { leg_id: two.legId, role, region: "US", ...more })
      }
      const shown = async (fits: (row: Room.Upstream | undefined) => boolean) => {
        for (let waited = 0; waited < 10_000; waited += 50) {
          const row = (await room.upstream()).find(({ member_id }) => member_id === two.member.id)
          if (fits(row)) return
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
        throw new Error(`the carrier does not show it: ${JSON.stringify(await room.upstream())}`)
      }
      expect(await room.refused("supervise", { leg_id: two.legId, role: "whisper" })).toBe("400 invalid_request")
      await asks("whisper", { whisper_leg_ids: [one.legId, hostLeg] })
      await shown((row) => row?.whispering === true && row.whisper_leg_ids.length === 2)
      expect((await room.upstream("?whispering=true")).map(({ member_id }) => member_id)).toEqual([two.member.id])
      await asks("monitor", { whisper_leg_ids: [one.legId] })
      await shown((row) => row?.whispering === false && row.whisper_leg_ids.length === 0)
      await asks("barge")
      await asks("none")
      expect((await room.upstream("?whispering=false")).length).toBe(3)
    }
  }
]
