import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Wav from "../../../src/protocol/audio/file/Wav.ts"
import { MediaPlane } from "../../../src/media/plane/MediaPlane.ts"
import { Recorder } from "../../../src/telephony/recording/Recorder.ts"
import * as VirtualMedia from "../../carrier/VirtualMedia.ts"
import * as Click from "../../media/mix/Click.ts"
import * as Goertzel from "../../support/Goertzel.ts"
import * as Ids from "../../support/Ids.ts"
import * as World from "./RecorderWorld.ts"

const { leg, start, tenantId } = World

/** A phone that plays a tone of 440 Hz. */
const tone = (ms = 60_000) =>
  ({
    type: "plays",
    parts: [{ sound: "tone", ms, components: [{ frequency: 440, dbfs: -12 }] }],
    repeats: false
  }) as const
const work = (id: string) => Ids.work(id.padStart(32, "0"))
const command = Effect.fnUntraced(function* (media: Parameters<MediaPlane["Service"]["command"]>[2]) {
  yield* (yield* MediaPlane).command(leg, tenantId, media)
})
const startRecording = Effect.fnUntraced(function* (
  media = start("1"),
  phone: Parameters<MediaPlane["Service"]["openPhone"]>[2] = tone()
) {
  yield* (yield* MediaPlane).openPhone(leg, tenantId, phone)
  yield* VirtualMedia.elapse(100)
  yield* command(media)
})
const stop = command({ type: "stop_recording", recording: work("1") })
const part = (samples: Int16Array | undefined, from: number, to: number, rate = 16_000) =>
  (samples ?? new Int16Array(0)).slice((from * rate) / 1000, (to * rate) / 1000)

describe("The recorder, guide/recordings.md", () => {
  it.effect("writes the leg to the left and what it hears to the right, in time, at its rate and level", () => {
    const world = World.make()
    return Effect.gen(function* () {
      yield* startRecording()
      yield* VirtualMedia.elapse(1000)
      yield* command({ type: "play", id: Ids.work("p"), url: VirtualMedia.sounds.good, loop: 1 } as never)
      yield* VirtualMedia.elapse(1500)
      yield* stop
      yield* world.until(() => world.told.some(({ type }) => type === "recording_stored"), "stored")
      const file = World.wav(world.fileOf(".wav"))
      expect([file.rate, file.channels.length, file.stated]).toStrictEqual([16_000, 2, world.fileOf(".wav").length])
      const [left, right] = file.channels
      expect(Math.abs((left?.length ?? 0) / 16 - 2500)).toBeLessThanOrEqual(40)
      expect(Goertzel.level(part(left, 100, 2400), 440, 16_000)).closeTo(-12, 0.3)
      expect(Goertzel.totalLevel(part(right, 0, 980))).toBeLessThan(-80)
      // No frame of the tone is missing.
      for (let at = 60; at < 2400; at += 40)
        expect(Goertzel.level(part(left, at, at + 40), 440, 16_000)).closeTo(-12, 1)
      expect(Click.largest(part(left, 20, 2480))).toBeLessThan(100)
      expect(world.told.filter((event) => "id" in event && event.id === work("1"))).toStrictEqual([
        {
          type: "recording_stored",
          id: work("1"),
          durationMs: (left?.length ?? 0) / 16,
          sizeBytes: world.fileOf(".wav").length,
          downloadUrl: `https://here/svc_rec_${work("1")}.wav`
        }
      ])
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("writes both sides mixed on one channel", () => {
    const world = World.make()
    return Effect.gen(function* () {
      yield* startRecording(start("1", { channels: "single" }))
      yield* VirtualMedia.elapse(600)
      yield* stop
      yield* world.until(() => world.files.size > 0, "stored")
      const { channels } = World.wav(world.fileOf(".wav"))
      expect(channels).toHaveLength(1)
      expect(Goertzel.level(part(channels[0], 100, 500), 440, 16_000)).closeTo(-12, 0.3)
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("makes an MP3 of a constant rate, with the sound in it", () => {
    const world = World.make()
    return Effect.gen(function* () {
      yield* startRecording(start("1", { format: "mp3" }))
      yield* VirtualMedia.elapse(4000)
      yield* stop
      yield* world.until(() => world.files.size > 0, "stored")
      const bytes = world.fileOf(".mp3")
      // Two channels at 32 kbit/s each are 8,000 bytes a second.
      expect(bytes.length / 8000).closeTo(4, 0.3)
      // MPEG 2, layer III (ISO/IEC 13818-3).
      expect([bytes[0], (bytes[1] ?? 0) & 0xfe]).toStrictEqual([0xff, 0xf2])
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("keeps nothing of what is said in a pause, and its times", () => {
    const world = World.make()
    return Effect.gen(function* () {
      yield* startRecording()
      yield* VirtualMedia.elapse(500)
      yield* command({ type: "pause_recording", recording: work("1") })
      yield* VirtualMedia.elapse(500)
      yield* command({ type: "resume_recording", recording: work("1") })
      yield* VirtualMedia.elapse(500)
      yield* stop
      yield* world.until(() => world.files.size > 0, "stored")
      const [left] = World.wav(world.fileOf(".wav")).channels
      expect(Math.abs((left?.length ?? 0) / 16 - 1500)).toBeLessThanOrEqual(40)
      expect(part(left, 520, 980).every((sample) => sample === 0)).toBe(true)
      expect(Goertzel.level(part(left, 1040, 1440), 440, 16_000)).closeTo(-12, 0.3)
      expect(Click.largest(part(left, 20, 1480))).toBeLessThan(400)
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("ends at its length to the sample, and says so before it is stored", () => {
    const world = World.make()
    return Effect.gen(function* () {
      yield* startRecording(start("1", { maxLengthMs: 1230 }))
      yield* VirtualMedia.elapse(2500)
      yield* world.until(() => world.told.length === 2, "stored")
      expect(world.told.map(({ type }) => type)).toStrictEqual(["recording_stopped", "recording_stored"])
      expect(World.wav(world.fileOf(".wav")).channels[0]).toHaveLength(1230 * 16)
    }).pipe(Effect.provide(world.layer))
  })

  const speech = { type: "plays", parts: [{ sound: "speech", ms: 3000 }], repeats: false } as const

  it.effect("ends when neither side has spoken for so long, and no sooner", () => {
    const world = World.make()
    return Effect.gen(function* () {
      yield* startRecording(start("1", { silenceMs: 2000 }), speech)
      yield* VirtualMedia.elapse(4500)
      expect(world.told).toStrictEqual([])
      yield* VirtualMedia.elapse(2500)
      yield* world.until(() => world.told.length === 2, "stored")
      expect(world.told.map(({ type }) => type)).toStrictEqual(["recording_stopped", "recording_stored"])
      // The last syllable, what ends speech, the silence, and the rest of the chunk.
      const seconds = (World.wav(world.fileOf(".wav")).channels[0]?.length ?? 0) / 16_000
      expect(seconds).toBeGreaterThanOrEqual(4.5)
      expect(seconds).toBeLessThanOrEqual(6.2)
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("ends after silence although its warning tone repeats, which is no speech", () => {
    const world = World.make()
    return Effect.gen(function* () {
      yield* startRecording(start("1", { silenceMs: 3000, hasBeep: true, beepEveryMs: 1500 }), { type: "echo" })
      yield* VirtualMedia.elapse(4500)
      yield* world.until(() => world.told.length === 2, "stored")
      const [left, right] = World.wav(world.fileOf(".wav")).channels
      expect(Goertzel.level(part(right, 1600, 1900), 1400, 16_000)).closeTo(-20, 1)
      expect((left?.length ?? 0) / 16).closeTo(3000, 520)
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("counts silence from its beginning, and not while it is paused", () => {
    const world = World.make()
    return Effect.gen(function* () {
      yield* startRecording(start("1", { silenceMs: 2000 }), { type: "silence" })
      yield* command({ type: "pause_recording", recording: work("1") })
      yield* VirtualMedia.elapse(5000)
      expect(world.told).toStrictEqual([])
      yield* command({ type: "resume_recording", recording: work("1") })
      yield* VirtualMedia.elapse(3500)
      yield* world.until(() => world.told.length === 2, "stored")
      expect(world.told.map(({ type }) => type)).toStrictEqual(["recording_stopped", "recording_stored"])
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("ends with its leg, with all that was said until then", () => {
    const world = World.make()
    return Effect.gen(function* () {
      yield* startRecording()
      yield* VirtualMedia.elapse(700)
      yield* (yield* MediaPlane).close(leg)
      yield* world.until(() => world.files.size > 0, "stored")
      expect(Math.abs((World.wav(world.fileOf(".wav")).channels[0]?.length ?? 0) / 16 - 700)).toBeLessThanOrEqual(40)
      expect(world.told.map(({ type }) => type)).toStrictEqual(["recording_stored"])
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("warns with a tone that the leg hears and the file has, at the beginning and again", () => {
    const world = World.make()
    return Effect.gen(function* () {
      yield* startRecording(start("1", { hasBeep: true, beepEveryMs: 2000 }), { type: "silence" })
      yield* VirtualMedia.elapse(3000)
      yield* stop
      yield* world.until(() => world.files.size > 0, "stored")
      const [left, right] = World.wav(world.fileOf(".wav")).channels
      const levels = [100, 1000, 2100].map((at) => Goertzel.level(part(right, at, at + 300), 1400, 16_000))
      expect(levels[0]).closeTo(-20, 0.5)
      expect(levels[1]).toBeLessThan(-80)
      expect(levels[2]).closeTo(-20, 0.5)
      expect(Goertzel.totalLevel(part(left, 0, 2900))).toBeLessThan(-80)
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("tells once that it failed when the disk is full, and leaves nothing there; others go on", () => {
    const world = World.make()
    return Effect.gen(function* () {
      yield* startRecording()
      yield* VirtualMedia.elapse(600)
      world.world.writesLeft = 0
      yield* VirtualMedia.elapse(1200)
      yield* world.until(() => world.told.length > 0, "failed")
      yield* VirtualMedia.elapse(1200)
      expect(world.told).toStrictEqual([{ type: "ended", id: work("1"), status: "failed", reason: "storage_error" }])
      expect([...world.files.keys()]).toStrictEqual([])
      world.world.writesLeft = Number.POSITIVE_INFINITY
      yield* command(start("2"))
      yield* VirtualMedia.elapse(600)
      yield* command({ type: "stop_recording", recording: work("2") })
      yield* world.until(() => world.files.size === 1, "the next one")
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("of a leg that is not there fails, because nothing was heard", () => {
    const world = World.make()
    return Effect.gen(function* () {
      yield* command(start("1"))
      yield* world.until(() => world.told.length > 0, "failed")
      expect(world.told).toStrictEqual([{ type: "ended", id: work("1"), status: "failed", reason: "no_sound" }])
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("tries a store that is away again, and stores once", () => {
    const world = World.make()
    return Effect.gen(function* () {
      world.failNext(3)
      yield* startRecording()
      yield* VirtualMedia.elapse(600)
      yield* stop
      yield* world.until(() => world.asked.length === 1, "the first attempt")
      expect(world.told).toStrictEqual([])
      for (let i = 0; i < 12; i++) {
        yield* VirtualMedia.elapse(1000)
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
      }
      yield* world.until(() => world.told.length === 1, "stored")
      expect(world.asked.filter((each) => each.startsWith("put"))).toHaveLength(4)
      expect(world.files.size).toBe(1)
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("removes a file that nobody waits for any more", () => {
    const world = World.make()
    world.world.answer = "unknown"
    world.world.isStored = false
    return Effect.gen(function* () {
      yield* startRecording()
      yield* VirtualMedia.elapse(600)
      yield* stop
      yield* world.until(() => world.asked.some((each) => each.startsWith("remove")), "removed")
      expect(world.files.size).toBe(0)
    }).pipe(Effect.provide(world.layer))
  })

  const real = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
  /** Advances virtual time at a pace that the disk can follow. */
  const seconds = (count: number) =>
    Effect.forEach(Array.from({ length: count }), () => Effect.andThen(TestClock.adjust(1000), real), { discard: true })

  it.effect(
    "tells a call that waits for a recording of which nothing is here, within half a minute, and no other",
    () => {
      const world = World.make()
      return Effect.gen(function* () {
        const recorder = yield* Recorder
        const of = (id: string, wasAnswered: boolean) => ({
          id: work(id),
          callId: World.callId,
          legId: leg,
          wasAnswered
        })
        let awaited = [of("1", true), of("2", true)]
        yield* recorder.watch(Effect.sync(() => awaited))
        yield* startRecording()
        yield* seconds(11)
        // Its command may be on its way.
        awaited = [of("1", true), of("2", true), of("3", false)]
        yield* seconds(10)
        yield* world.until(() => world.told.length > 0, "told")
        expect(world.told).toStrictEqual([{ type: "ended", id: work("2"), status: "failed", reason: "lost" }])
        yield* seconds(10)
        yield* world.until(() => world.told.length > 2, "told again, and of the other")
        // In either order.
        expect(new Set(world.told.slice(1))).toStrictEqual(
          new Set([
            { type: "ended", id: work("2"), status: "failed", reason: "lost" },
            { type: "ended", id: work("3"), status: "failed", reason: "no_sound" }
          ])
        )
      }).pipe(Effect.scoped, Effect.provide(world.layer))
    }
  )

  it.effect("goes on telling a call that cannot take its outcome, and keeps the file meanwhile", () => {
    const world = World.make()
    world.world.answer = "fault"
    world.world.unasked = 2
    return Effect.gen(function* () {
      const path = join(yield* world.directory, "spool")
      yield* Effect.gen(function* () {
        const recorder = yield* Recorder
        yield* startRecording()
        yield* VirtualMedia.elapse(600)
        yield* stop
        yield* world.until(() => world.told.length > 0, "told")
        yield* (yield* MediaPlane).close(leg)
        yield* TestClock.adjust("8 minutes")
        yield* real
        // After five minutes of repetitions, another begins each minute.
        expect(world.told.length).toBeGreaterThan(45)
        expect(yield* recorder.unstored).toBe(1)
        expect(readdirSync(path)).toHaveLength(2)
        world.world.answer = "committed"
        yield* seconds(80)
        yield* world.until(() => readdirSync(path).length === 0, "the spool is empty")
        expect(world.files.size).toBe(1)
        expect(new Set(world.told.map(({ type }) => type))).toStrictEqual(new Set(["recording_stored"]))
      }).pipe(Effect.provide(world.layerOver(path)))
    }).pipe(Effect.scoped)
  })

  it.effect(
    "completes what a dead process left on the spool, cut in the middle of a sample, and tells of what it lost",
    () => {
      const world = World.make()
      return Effect.gen(function* () {
        const path = join(yield* world.directory, "spool")
        mkdirSync(path)
        const { callId } = World
        const left = { id: work("7"), callId, legId: leg, tenantId, channels: "dual", format: "wav" }
        writeFileSync(join(path, `${work("7")}.json`), JSON.stringify(left))
        writeFileSync(join(path, "x.json"), "{")
        const header = Wav.header({ sampleRate: 8000, channels: 2 }, 0)
        writeFileSync(join(path, `${work("7")}.wav`), Buffer.concat([header, Buffer.alloc(8000 * 4 + 3, 1)]))
        yield* Effect.gen(function* () {
          const recorder = yield* Recorder
          yield* recorder.recover([
            { id: work("7"), callId, legId: leg, wasAnswered: true },
            { id: work("8"), callId, legId: leg, wasAnswered: true },
            { id: work("9"), callId, legId: leg, wasAnswered: false }
          ])
          yield* world.until(() => world.told.length === 3, "told")
          expect(world.told).toContainEqual({ type: "ended", id: work("8"), status: "failed", reason: "lost" })
          expect(world.told).toContainEqual({ type: "ended", id: work("9"), status: "failed", reason: "no_sound" })
          expect(world.told).toContainEqual({
            type: "recording_stored",
            id: work("7"),
            durationMs: 1000,
            sizeBytes: 44 + 32_000,
            downloadUrl: `https://here/svc_rec_${work("7")}.wav`
          })
          expect([World.wav(world.fileOf(".wav")).stated, world.fileOf(".wav").length]).toStrictEqual([32_044, 32_044])
          yield* world.until(() => readdirSync(path).join() === "x.json", "the spool is empty")
        }).pipe(Effect.provide(world.layerOver(path)))
      }).pipe(Effect.scoped)
    }
  )
})
