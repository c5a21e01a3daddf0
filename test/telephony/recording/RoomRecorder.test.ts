import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Wav from "../../../src/protocol/audio/file/Wav.ts"
import { MediaPlane } from "../../../src/media/plane/MediaPlane.ts"
import { Recorder } from "../../../src/telephony/recording/Recorder.ts"
import * as VirtualMedia from "../../carrier/VirtualMedia.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Ids from "../../support/Ids.ts"
import * as World from "./RecorderWorld.ts"

const { callId, tenantId } = World
const room = Ids.leg("room")
const conferenceId = Ids.conference("svc_conf_1")
const id = Ids.work("1".padStart(32, "0"))

/** Two legs in a room: the host plays 439 Hz, the other one 761 Hz. */
const gathered = Effect.gen(function* () {
  const plane = yield* MediaPlane
  yield* plane.openRoom(room, tenantId, Ids.leg("host"))
  for (const [name, frequency] of [
    ["host", 439],
    ["other", 761]
  ] as const) {
    const leg = Ids.leg(name)
    yield* plane.openPhone(leg, tenantId, {
      type: "plays",
      parts: [{ sound: "tone", ms: 60_000, components: [{ frequency, dbfs: -20 }] }],
      repeats: false
    })
    const entry = { memberId: Ids.member(name), isHost: name === "host", isMuted: false, isHeld: false }
    yield* plane.enterRoom(leg, room, entry)
  }
  yield* VirtualMedia.elapse(200)
  return plane
})

describe("The recorder of a room", () => {
  it.effect("has the host on the left and the others on the right, and tells the conference", () => {
    const world = World.make()
    return Effect.gen(function* () {
      const plane = yield* gathered
      yield* plane.command(room, tenantId, World.start("1", { conferenceId }))
      yield* VirtualMedia.elapse(1000)
      yield* plane.command(room, tenantId, { type: "stop_recording", recording: id })
      yield* world.until(() => world.toldRooms.length > 0, "stored")
      expect(world.toldRooms).toMatchObject([[conferenceId, { type: "recording_stored", id }]])
      expect(world.told.filter(({ type }) => type === "recording_stored")).toStrictEqual([])
      const { channels, rate } = World.wav(world.fileOf(".wav"))
      const level = (channel: number, frequency: number) =>
        Goertzel.level((channels[channel] ?? new Int16Array(0)).slice(rate / 10, (rate * 9) / 10), frequency, rate)
      expect([level(0, 439), level(1, 761)].map(Math.round)).toStrictEqual([-20, -20])
      expect(Math.max(level(0, 761), level(1, 439))).toBeLessThan(-60)
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("tells it of what a dead process left, and of what is lost", () => {
    const world = World.make()
    return Effect.gen(function* () {
      const path = join(yield* world.directory, "spool")
      mkdirSync(path)
      const left = { id, callId, conferenceId, legId: room, tenantId, channels: "single", format: "wav" }
      writeFileSync(join(path, `${id}.json`), JSON.stringify(left))
      const header = Wav.header({ sampleRate: 8000, channels: 1 }, 0)
      writeFileSync(join(path, `${id}.wav`), Buffer.concat([header, Buffer.alloc(8000 * 2, 1)]))
      yield* Effect.gen(function* () {
        const of = { callId, conferenceId, legId: room, wasAnswered: true }
        yield* (yield* Recorder).recover([
          { ...of, id },
          { ...of, id: Ids.work("lost") }
        ])
        yield* world.until(() => world.toldRooms.length === 2, "told")
        expect(world.toldRooms).toContainEqual([
          conferenceId,
          { type: "ended", id: "lost", status: "failed", reason: "lost" }
        ])
        expect(world.toldRooms.map(([, { type }]) => type).toSorted()).toStrictEqual(["ended", "recording_stored"])
        expect(world.told).toStrictEqual([])
      }).pipe(Effect.provide(world.layerOver(path)))
    }).pipe(Effect.scoped)
  })
})
