import { expect } from "vitest"
import { createHash } from "node:crypto"
import type { Row } from "../Row.ts"
import * as World from "../world/World.ts"
import type { Call } from "../Call.ts"

/** Plays a tone of this length to its end, so that there is sound to store. */
const sound = async (world: World.World, call: Call, ms: number): Promise<void> => {
  const ended = call.types().filter((type) => type === "call.playback_ended").length
  await call.act("play", { url: world.running().servers.soundUrl(`tone/${ms}.wav`) })
  await call.event("call.playback_ended", ended + 1)
}

const of = async (world: World.World, call: Call): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> => {
  const listed = await world.tenant.ask("GET", `/v1/recordings?call_id=${call.id}`)
  return (listed.json as { readonly results: ReadonlyArray<Readonly<Record<string, unknown>>> }).results
}

/** The recording's file, from the link of its event. */
const file = async (url: unknown): Promise<Buffer> => Buffer.from(await (await fetch(String(url))).arrayBuffer())

/** Recordings of a call, guide/recordings.md. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "start_recording and stop_recording give a stereo WAV that can be listed, read, downloaded and deleted",
    run: async (world) => {
      const { call, far } = await World.answered(world)
      await call.act("start_recording", { channels: "dual", format: "wav", max_length: 600, play_beep: true })
      expect(await call.refused("start_recording")).toBe("409 conflict")
      await far.say(300)
      await sound(world, call, 600)
      await call.act("stop_recording")
      const data = await call.event("recording.completed")
      expect(data).toMatchObject({ call_id: call.id, channels: "dual", format: "wav", conference_id: null })
      expect(await call.refused("stop_recording")).toBe("409 recording_already_stopped")
      const bytes = await file(data["download_url"])
      expect([bytes.toString("latin1", 0, 4), bytes.readUInt16LE(22)]).toEqual(["RIFF", 2])
      const [row] = await of(world, call)
      expect(row).toMatchObject({
        id: data["recording_id"],
        status: "available",
        channels: "dual",
        size_bytes: bytes.length
      })
      expect((await call.find()).recordings).toMatchObject([{ id: data["recording_id"], status: "available" }])
      const path = `/v1/recordings/${String(data["recording_id"])}`
      const again = (await world.tenant.ask("GET", path)).json as { readonly download_url: string }
      const digest = (part: Buffer) => createHash("sha256").update(part).digest("hex")
      expect(digest(await file(again.download_url))).toBe(digest(bytes))
      expect((await world.tenant.ask("DELETE", path)).status).toBe(204)
      expect((await world.tenant.ask("GET", path)).status).toBe(404)
      world.seen.error("not_found")
      expect((await call.find()).recordings).toEqual([])
    }
  },
  {
    name: "a recording is paused and resumed, is MP3 of both sides by default, and is stopped in a bridged call",
    run: async (world) => {
      const [one, two] = await Promise.all([World.answered(world), World.answered(world)])
      await one.call.act("start_recording")
      await sound(world, one.call, 400)
      await one.call.act("pause_recording")
      expect(await one.call.refused("pause_recording")).toBe("409 conflict")
      await one.call.act("bridge", { leg_id: await two.call.legId() })
      await one.call.event("call.bridged")
      await one.call.until("it is bridged", ({ status }) => status === "bridged")
      expect(await one.call.refused("start_recording")).toBe("409 call_not_in_required_state")
      await one.call.act("resume_recording")
      expect(await one.call.refused("resume_recording")).toBe("409 conflict")
      await one.call.act("pause_recording")
      await one.call.act("stop_recording")
      expect(await one.call.event("recording.completed")).toMatchObject({ channels: "single", format: "mp3" })
      for (const verb of ["stop_recording", "pause_recording", "resume_recording"])
        expect(await one.call.refused(verb)).toBe("409 recording_already_stopped")
    }
  },
  {
    name: "pause_recording and resume_recording work before a bridge",
    run: async (world) => {
      const { call } = await World.answered(world)
      await call.act("start_recording", { channels: "single", format: "mp3", beep_interval_seconds: 5 })
      await call.act("pause_recording")
      await call.act("resume_recording")
      await sound(world, call, 300)
      await call.act("stop_recording")
      expect(await call.event("recording.completed")).toMatchObject({ channels: "single", format: "mp3" })
    }
  },
  {
    name: "a recording ends by itself at max_length, and the next may begin",
    run: async (world) => {
      const { call } = await World.answered(world)
      await call.act("start_recording", { max_length: 1, format: "wav", play_beep: false })
      expect(await call.event("recording.completed")).toMatchObject({ duration_seconds: 1, format: "wav" })
      expect((await call.find()).status).toBe("answered")
      await call.act("start_recording")
      await sound(world, call, 300)
      await call.act("hangup")
      await call.event("recording.completed", 2)
    }
  },
  {
    name: "a recording ends with a key of the far end, or when nobody has spoken, and the call goes on",
    run: async (world) => {
      const { call, far } = await World.answered(world)
      await call.act("start_recording", { format: "wav", finish_on_key: "*#" })
      await sound(world, call, 300)
      await far.press("#")
      expect(await call.event("recording.completed")).toMatchObject({ format: "wav" })
      await call.act("start_recording", { format: "wav", silence_timeout_seconds: 1, trim: "trim-silence" })
      await sound(world, call, 300)
      await call.event("recording.completed", 2)
      expect((await call.find()).status).toBe("answered")
    }
  },
  {
    name: "record on_answer records from the answer, in the format that was asked for",
    run: async (world) => {
      const { call } = await World.answered(world, {
        record: "on_answer",
        record_channels: "dual",
        record_format: "wav"
      })
      await sound(world, call, 400)
      await call.act("hangup")
      expect(await call.event("recording.completed")).toMatchObject({ channels: "dual", format: "wav" })
    }
  },
  {
    name: "record on_ringing records with the answer at the latest, MP3 of both sides where nothing else is said",
    run: async (world) => {
      const { call } = await World.answered(world, { record: "on_ringing" })
      await sound(world, call, 400)
      await call.act("hangup")
      expect(await call.event("recording.completed")).toMatchObject({ channels: "single", format: "mp3" })
    }
  },
  {
    name: "record on_demand records nothing by itself, and gives start_recording its format",
    run: async (world) => {
      const { call } = await World.answered(world, {
        record: "on_demand",
        record_channels: "dual",
        record_format: "mp3"
      })
      expect(await call.refused("stop_recording")).toBe("409 recording_already_stopped")
      await call.act("start_recording")
      await sound(world, call, 300)
      await call.act("stop_recording")
      expect(await call.event("recording.completed")).toMatchObject({ channels: "dual", format: "mp3" })
    }
  },
  {
    name: "record off records nothing",
    run: async (world) => {
      const { call } = await World.answered(world, { record: "off", record_channels: "single", record_format: "mp3" })
      await sound(world, call, 300)
      expect(await call.refused("stop_recording")).toBe("409 recording_already_stopped")
      await call.over()
      expect(await of(world, call)).toEqual([])
    }
  },
  {
    name: "answer with record off, and with record on_answer",
    run: async (world) => {
      const [off, on] = await Promise.all([
        World.talking(world, { record: "off" }),
        World.talking(world, { record: "on_answer", record_channels: "single", record_format: "mp3" })
      ])
      await sound(world, on.call, 400)
      await Promise.all([off.call.act("hangup"), on.call.act("hangup")])
      expect(await on.call.event("recording.completed")).toMatchObject({ channels: "single", format: "mp3" })
      expect(await of(world, off.call)).toEqual([])
    }
  }
]
