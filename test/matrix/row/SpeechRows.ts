import { expect } from "vitest"
import type { Row } from "../Row.ts"
import * as World from "../world/World.ts"

const transcription = async (world: World.World, path: string) => {
  const { json, status } = await world.tenant.ask("GET", `${path}/transcription`)
  return { status, json: json as Readonly<Record<string, unknown>> }
}

/** Transcription, guide/transcription.md: the engine is a server that recognizes bursts of a tone as words. */
export const rows: ReadonlyArray<Row> = [
  {
    name: "a transcription tells each phrase with its words, is read meanwhile and afterwards, and is stopped",
    run: async (world) => {
      const { call, far } = await World.answered(world)
      expect((await transcription(world, call.path)).status).toBe(404)
      expect(await call.refused("transcription_stop")).toBe("409 transcription_not_active")
      await call.act("transcription_start", { language: "en-US", engine: "fast", transcription_tracks: "inbound" })
      expect(await call.refused("transcription_start")).toBe("409 transcription_already_active")
      expect((await transcription(world, call.path)).json).toMatchObject({
        status: "active",
        engine: "fast",
        language: "en-US",
        transcription_tracks: "inbound"
      })
      await far.say(300)
      const phrase = await call.event("call.transcript_chunk")
      expect(phrase).toMatchObject({
        transcript: "beep1",
        track: "inbound",
        is_final: true,
        words: [{ word: "beep1", confidence: 0.9 }]
      })
      await call.act("transcription_stop")
      expect(await call.refused("transcription_stop")).toBe("409 transcription_not_active")
      await call.act("hangup")
      const { json } = await transcription(world, call.path)
      expect(json).toMatchObject({ id: phrase["transcription_id"], transcript: "beep1", segments: [{ sequence: 1 }] })
    }
  },
  {
    name: "the last words before the hang-up are told after it, and the session is completed",
    run: async (world) => {
      const { call, far } = await World.answered(world)
      await call.act("transcription_start", { engine: "accurate", transcription_tracks: "both" })
      // The sound that is played meanwhile shows that time has passed, and is on the other track.
      await Promise.all([far.say(20_000), call.act("play", { url: world.running().servers.soundUrl("tone/500.wav") })])
      await call.event("call.playback_ended")
      await far.hangUp()
      await call.event("call.ended")
      const words = await world
        .running()
        .delivered.of(call.id)
        .until("words behind the end", (all) => {
          const ended = all.findIndex(({ event_type }) => event_type === "call.ended")
          return all.find(
            ({ data, event_type }, at) =>
              at > ended && event_type === "call.transcript_chunk" && data["track"] === "inbound"
          )
        })
      expect(words.data).toMatchObject({ is_final: true })
      await expect
        .poll(async () => (await transcription(world, call.path)).json, { timeout: 15_000 })
        .toMatchObject({ status: "completed", engine: "accurate", transcription_tracks: "both" })
    }
  },
  {
    name: "a transcription of the outbound track hears what the leg hears, in a bridged call",
    run: async (world) => {
      const [one, two] = await World.bridged(world)
      await one.call.act("transcription_start", { transcription_tracks: "outbound" })
      await two.far.say(300)
      expect(await one.call.event("call.transcript_chunk")).toMatchObject({ track: "outbound", transcript: "beep1" })
      await one.call.act("transcription_stop")
    }
  }
]
