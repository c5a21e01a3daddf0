import { Effect, Layer } from "effect"
import { LegId, TenantId, WorkId } from "../../src/domain/Id.ts"
import { AudioDecoder } from "../../src/media/sound/AudioDecoder.ts"
import { AudioSource } from "../../src/media/sound/AudioSource.ts"
import * as PlaybackFeeds from "../../src/media/sound/PlaybackFeeds.ts"
import * as Player from "../../src/media/mix/Player.ts"
import type { Engine } from "../../src/ports/speech/Engine.ts"
import * as EspeakCommand from "../../src/ports/speech/process/EspeakCommand.ts"
import * as EspeakWasm from "../../src/ports/speech/process/EspeakWasm.ts"
import * as FliteCommand from "../../src/ports/speech/process/FliteCommand.ts"
import { Synthesizer } from "../../src/ports/speech/Synthesizer.ts"
import * as Report from "./Report.ts"
import { nowhere } from "./load/Service.ts"

const times = 60
const tenant = TenantId.make("00000000-0000-4000-8000-000000000001")
const leg = LegId.make(`svc_leg_${"0".repeat(32)}`)

const at = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

/**
 * The time from a leg's command to the first frame that is not silent, at a frame every 20 ms as in the media thread.
 */
const firstFrame = (text: string, voice: string) =>
  Effect.gen(function* () {
    const sources = yield* AudioSource
    let feeds: Effect.Success<ReturnType<typeof PlaybackFeeds.make>> | null = null
    const player = Player.make(
      { ended: (id, end) => feeds?.ended(leg, { type: "ended", id, ...end }) },
      ({ id, sound }) => feeds?.wanted(tenant, { type: "wanted", leg, id, sound, rate: 8000 }),
      () => undefined
    )
    feeds = yield* PlaybackFeeds.make(sources, (command) => {
      if (command.type === "supply") player.supply(command.id, command.sound, command.isLast)
      if (command.type === "supply_failed") player.fail(command.id, command.reason)
    })
    const began = performance.now()
    player.play(WorkId.make("speech"), {
      type: "speech",
      speech: { text, textType: "text", voice, language: null }
    })
    for (let frame = 0; frame < 500; frame++) {
      if (player.next(8000, 160, 0) !== null) break
      yield* Effect.sleep(Math.max(0, began + (frame + 1) * 20 - performance.now()))
    }
    const took = performance.now() - began
    player.stop(null)
    player.close()
    return took
  }).pipe(Effect.scoped)

const figuresOf = (engine: Engine, voice: string) => {
  const name = `${engine.name}.${voice}`
  return Effect.gen(function* () {
    yield* firstFrame("The first one warms up whatever there is.", name)
    const took: Array<number> = []
    for (let n = 0; n < times; n++)
      took.push(
        yield* firstFrame(`Hello, caller number ${n}. Please press one for your balance, or two for a loan.`, name)
      )
    took.sort((a, b) => a - b)
    let seconds = 0
    const began = performance.now()
    for (let n = 0; n < 5; n++)
      yield* engine.speak(
        { text: `Number ${n}. ${"A sentence that is said, word by word. ".repeat(5)}`, voice, isSsml: false },
        ({ rate, samples }) => void (seconds += samples.length / rate)
      )
    const cost = (performance.now() - began) / seconds
    return [took, cost] as const
  }).pipe(
    Effect.provide(
      AudioSource.layer.pipe(Layer.provide([nowhere, AudioDecoder.layerInline, Synthesizer.layerOf([engine])]))
    )
  )
}

/** Measures each engine that this machine has. */
export const run = Effect.gen(function* () {
  const engines: ReadonlyArray<readonly [string, Engine | null, string]> = [
    ["espeak of npm", yield* EspeakWasm.make(), "en-us"],
    ["espeak-ng of this machine", yield* EspeakCommand.find(), "en-us"],
    ["flite slt", yield* FliteCommand.find(), "slt"]
  ]
  const figures: Array<Report.Figure> = []
  for (const [what, engine, voice] of engines) {
    if (engine === null) continue
    const [took, cost] = yield* Effect.orDie(figuresOf(engine, voice))
    figures.push(
      Report.figure(
        `${what}: speak to first frame, ms, p50 / p99`,
        `${Report.number(at(took, 0.5))} / ${Report.number(at(took, 0.99))}`
      ),
      Report.figure(`${what}: ms of work for a second of speech`, Report.number(cost))
    )
  }
  return figures
})
