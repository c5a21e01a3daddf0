import { expect } from "vitest"
import type { Row } from "../../Row.ts"
import type * as World from "../../world/World.ts"
import type * as Room from "../Room.ts"
import * as Rooms from "../Rooms.ts"

const file = async (url: unknown): Promise<Buffer> => Buffer.from(await (await fetch(String(url))).arrayBuffer())

/** Plays a tone of this length to its end, so that there is sound to store. */
const sound = async (world: World.World, room: Room.Room, ms: number): Promise<void> => {
  const ended = room.types().filter((type) => type === "conference.playback_ended").length
  await room.act("play", { url: world.running().servers.soundUrl(`tone/${ms}.wav`) })
  await room.event("conference.playback_ended", ended + 1)
}

const recordingsOf = async (world: World.World, callId: string) => {
  const listed = await world.tenant.ask("GET", `/v1/recordings?call_id=${callId}`)
  return (listed.json as { readonly results: ReadonlyArray<Readonly<Record<string, unknown>>> }).results
}

/** Playback, speech and recording in a room. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "play is heard by all or by some, as often as loop says, and is told when it is over",
    run: async (world) => {
      const { guests, room } = await Rooms.peopled(world, 1)
      const url = world.running().servers.soundUrl("tone/200.wav")
      const started = performance.now()
      await room.act("play", { url, loop: 3, region: "US" })
      expect(await room.event("conference.playback_ended")).toMatchObject({ status: "completed", reason: null })
      expect(performance.now() - started).toBeGreaterThan(550)
      await room.act("play", { url, leg_ids: [guests[0]?.legId] })
      expect(await room.event("conference.playback_ended", 2)).toMatchObject({ status: "completed", reason: null })
      expect(guests[0]?.call.types()).not.toContain("call.playback_ended")
    }
  },
  {
    name: "stop ends what plays and what waits, for all or for some",
    run: async (world) => {
      const { guests, room } = await Rooms.peopled(world, 1)
      const { servers } = world.running()
      for (const ms of [9000, 8000]) await room.act("play", { url: servers.soundUrl(`tone/${ms}.wav`) })
      await room.act("stop", { region: "Europe" })
      for (const nth of [1, 2])
        expect(await room.event("conference.playback_ended", nth)).toMatchObject({ status: "stopped", reason: null })
      const leg_ids = [guests[0]?.legId]
      await room.act("play", { url: servers.soundUrl("tone/9000.wav"), leg_ids })
      await room.act("stop", { leg_ids })
      expect(await room.event("conference.playback_ended", 3)).toMatchObject({ status: "stopped" })
      await room.act("stop")
    }
  },
  {
    name: "speak says its text in the voice that was asked for, and is refused for one that is not there",
    run: async (world) => {
      const { guests, room } = await Rooms.peopled(world, 1)
      const payload = `Good day ${room.id.slice(-4)}.`
      await room.act("speak", {
        payload,
        voice: "openai.nova",
        language: "en-US",
        payload_type: "text",
        leg_ids: [guests[0]?.legId],
        region: "US"
      })
      await world.running().servers.spoken.next("its text", (text) => text === payload)
      expect(await room.event("conference.playback_ended")).toMatchObject({ status: "completed", reason: null })
      expect(await room.refused("speak", { payload: "hello", voice: "nobody.there" })).toBe("422 unprocessable")
      const answer = await world.tenant.ask("POST", `${room.path}/actions/speak/`, { payload: "x", voice: "no.body" })
      expect(answer.json).toMatchObject({ error: { param: "voice" } })
      await room.act("speak", { payload: `fail ${room.id}`, voice: "openai.alloy" })
      expect(await room.event("conference.playback_ended", 2)).toMatchObject({
        status: "failed",
        reason: "speech_failed"
      })
    }
  },
  {
    name: "a file that is not there is told as failed, and the end of the room stops what plays",
    run: async (world) => {
      const { room } = await Rooms.peopled(world, 1)
      const { servers } = world.running()
      await room.act("play", { url: servers.soundUrl("missing.wav") })
      expect(await room.event("conference.playback_ended")).toMatchObject({ status: "failed", reason: "http_404" })
      await room.act("play", { url: servers.soundUrl("tone/9000.wav") })
      await room.act("end")
      expect(await room.event("conference.playback_ended", 2)).toMatchObject({
        status: "stopped",
        reason: "conference_ended"
      })
    }
  },
  {
    name: "thirty-two sounds wait in a room, and the next is refused",
    run: async (world) => {
      const { room } = await Rooms.hosted(world)
      const url = world.running().servers.soundUrl("tone/9000.wav")
      await Promise.all(Array.from({ length: 32 }, () => room.act("play", { url })))
      expect(await room.refused("play", { url })).toBe("409 conflict")
      await room.act("stop")
      await room.event("conference.playback_ended", 32)
    }
  },
  {
    name: "a recording of the room is stereo, is paused and resumed, and is a recording of the host's call",
    run: async (world) => {
      const { guests, host, room } = await Rooms.peopled(world, 1)
      await room.act("record_start", {
        format: "wav",
        channels: "dual",
        play_beep: true,
        trim: "trim-silence",
        region: "US"
      })
      expect(await room.refused("record_start", { format: "wav" })).toBe("409 conference_action_invalid")
      await host.far.say(400)
      await guests[0]?.far.say(400)
      await sound(world, room, 600)
      await room.act("record_pause", { region: "US" })
      expect(await room.refused("record_pause")).toBe("409 conflict")
      await room.act("record_resume", { region: "US" })
      expect(await room.refused("record_resume")).toBe("409 conflict")
      await room.act("record_stop", { region: "US" })
      const data = await room.event("recording.completed")
      expect(data).toMatchObject({
        call_id: host.call.id,
        conference_id: room.id,
        channels: "dual",
        format: "wav"
      })
      const bytes = await file(data["download_url"])
      expect([bytes.toString("latin1", 0, 4), bytes.readUInt16LE(22)]).toEqual(["RIFF", 2])
      expect(await recordingsOf(world, host.call.id)).toMatchObject([{ id: data["recording_id"], status: "available" }])
      for (const [verb, code] of Object.entries({
        record_stop: "409 recording_already_stopped",
        record_pause: "409 conference_action_invalid",
        record_resume: "409 conference_action_invalid"
      }))
        expect([verb, await room.refused(verb)]).toEqual([verb, code])
      expect(host.call.types()).not.toContain("recording.completed")
    }
  },
  {
    name: "a recording ends with its room and is told behind it, and another may be made before",
    run: async (world) => {
      const { room } = await Rooms.peopled(world, 1)
      await room.act("record_start", { format: "mp3", channels: "single", play_beep: false })
      await sound(world, room, 400)
      await room.act("record_stop")
      await room.event("recording.completed")
      await room.act("record_start", { format: "wav" })
      await sound(world, room, 400)
      await room.act("end")
      expect(await room.event("recording.completed", 2)).toMatchObject({ format: "wav", conference_id: room.id })
      expect(room.types().slice(-2)).toEqual(["conference.ended", "recording.completed"])
    }
  },
  {
    name: "a call in a room keeps its recording, and cannot begin one there",
    run: async (world) => {
      const { guests, host, room } = await Rooms.peopled(world, 0)
      expect(guests).toEqual([])
      expect(await host.call.refused("start_recording")).toBe("409 call_not_in_required_state")
      const { call, far } = await Rooms.guest(world, room, {})
      await call.act("play", { url: world.running().servers.soundUrl("tone/200.wav") })
      expect(await call.event("call.playback_ended")).toMatchObject({ status: "completed" })
      await far.press("7")
      expect(await call.event("call.dtmf")).toMatchObject({ digit: "7" })
    }
  }
]
