import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { CaptureEnd } from "../../../src/media/capture/Capture.ts"
import type { Receiver } from "../../../src/media/capture/Captures.ts"
import { type Attendant, MediaPlane } from "../../../src/media/plane/MediaPlane.ts"
import type { Engine } from "../../../src/ports/speech/Recognition.ts"
import { Recognizer } from "../../../src/ports/speech/Recognizer.ts"
import { Transcriber } from "../../../src/telephony/transcription/Transcriber.ts"
import { RecordingSink } from "../../carrier/RecordingSink.ts"
import * as Ids from "../../support/Ids.ts"

/** Reports how loud each second of sound was, and the rest at the end. */
const honest: Engine = {
  name: "honest",
  mostRate: 16_000,
  places: 4,
  speaks: () => true,
  recognize: ({ rate, take }, give) =>
    Effect.gen(function* () {
      let heard = 0
      for (let samples = yield* take; samples !== null; samples = yield* take) {
        const startMs = (heard * 1000) / rate
        heard += samples.length
        const endMs = (heard * 1000) / rate
        const word = { word: `level${samples[0]}`, startMs, endMs, confidence: 1 }
        if (samples[0] !== 0) give({ text: word.word, confidence: 1, startMs, endMs, words: [word] })
      }
    })
}

const leg = Ids.leg("a")
const call = Ids.call("a")
const tenant = Ids.tenant("a")

const world = (engine: Engine) => {
  let attendant: Attendant = () => undefined
  let receiver: Receiver | null = null
  const asked = { stops: 0, taken: 0 }
  const plane = Layer.mock(MediaPlane)({
    addresses: { ipv4: null, ipv6: null },
    attend: (_, found) => Effect.sync(() => void (attendant = found)),
    capture: (_leg, _id, _wanted, found) =>
      Effect.sync(() => {
        let isOver = false
        receiver = {
          ...found,
          ended: (reason) => {
            if (isOver) return
            isOver = true
            found.ended(reason)
          }
        }
        const opened = receiver
        return {
          taken: (chunks = 1) => void (asked.taken += chunks),
          silence: () => undefined,
          stop: () => {
            asked.stops++
            opened.ended("stopped")
          }
        }
      })
  })
  const id = Ids.work("t")
  return {
    asked,
    start: (tracks: "inbound" | "both") =>
      attendant(leg, tenant, { type: "start_transcription", id, callId: call, engine: "fast", language: "en", tracks }),
    stop: () => attendant(leg, tenant, { type: "stop_transcription", transcription: id }),
    hear: (at: number, ...levels: ReadonlyArray<number>) =>
      receiver?.heard({ rate: 8000, at, tracks: levels.map((level) => new Int16Array(800).fill(level)) }),
    end: (reason: CaptureEnd) => receiver?.ended(reason),
    layer: Transcriber.layer.pipe(
      Layer.provide([plane, Recognizer.layerOf({ fast: engine, accurate: null })]),
      Layer.provideMerge(RecordingSink.layer)
    )
  }
}

const settle = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
const told = Effect.map(RecordingSink, ({ of }) =>
  of(leg).map((report) => {
    const event = report.type === "media" ? report.event : null
    return event?.type === "transcribed"
      ? `${event.track} ${event.text}`
      : event?.type === "ended"
        ? `${event.status} ${event.reason}`
        : "other"
  })
)

describe("A transcriber", () => {
  it.effect("tells each phrase of each track, the last words behind the leg's end, then its end", () => {
    const { asked, end, hear, layer, start } = world(honest)
    return Effect.gen(function* () {
      start("both")
      hear(0, 1, 2)
      hear(100, 0, 3)
      end("leg_closed")
      yield* settle
      expect((yield* told).toSorted()).toEqual([
        "completed null",
        "inbound level1",
        "outbound level2",
        "outbound level3"
      ])
      expect((yield* told).at(-1)).toBe("completed null")
      expect(asked.taken).toBe(2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("is stopped, and fails when its sound is cut off or its engine is behind", () =>
    Effect.gen(function* () {
      for (const [reason, outcome] of [
        ["stopped", "completed null"],
        ["receiver_slow", "failed slow"],
        ["plane_stopped", "failed no_sound"]
      ] as const) {
        const { end, hear, layer, start, stop } = world(honest)
        yield* Effect.gen(function* () {
          start("inbound")
          hear(0, 1)
          if (reason === "stopped") stop()
          else end(reason)
          yield* settle
          expect(yield* told).toEqual(["inbound level1", outcome])
        }).pipe(Effect.provide(layer))
      }
    })
  )

  it.effect("gives an engine ten seconds for its last words, and ends its session when it dies", () =>
    Effect.gen(function* () {
      const hangs = world({
        ...honest,
        recognize: ({ take }) => Effect.andThen(take, Effect.andThen(take, Effect.never))
      })
      yield* Effect.gen(function* () {
        hangs.start("inbound")
        hangs.hear(0, 1)
        hangs.end("leg_closed")
        yield* settle
        yield* TestClock.adjust(9_000)
        expect(yield* told).toEqual([])
        yield* TestClock.adjust(1_000)
        yield* settle
        expect(yield* told).toEqual(["failed timeout"])
      }).pipe(Effect.provide(hangs.layer))
      const dies = world({ ...honest, recognize: () => Effect.die("no") })
      yield* Effect.gen(function* () {
        dies.start("inbound")
        dies.hear(0, 1)
        yield* settle
        expect(yield* told).toEqual(["failed failed"])
        expect(dies.asked.stops).toBeGreaterThan(0)
      }).pipe(Effect.provide(dies.layer))
    })
  )

  it.effect("fails at once what the process before it was to end", () => {
    const { hear, layer, start } = world(honest)
    return Effect.gen(function* () {
      const { recover } = yield* Transcriber
      start("inbound")
      hear(0, 1)
      yield* recover([
        { id: Ids.work("t"), callId: call, legId: leg },
        { id: Ids.work("of another process"), callId: call, legId: leg }
      ])
      yield* settle
      expect((yield* told).toSorted()).toEqual(["failed service_restarted", "inbound level1"])
    }).pipe(Effect.provide(layer))
  })
})
