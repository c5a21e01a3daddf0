import { Context, Effect, Layer } from "effect"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as FairShare from "../../domain/fair/FairShare.ts"
import type { TenantId } from "../../domain/Id.ts"
import { type Engine, type Give, RecognitionFailed, type Sound } from "./Recognition.ts"
import * as RecognitionMetrics from "./RecognitionMetrics.ts"
import * as RecognitionWatch from "./RecognitionWatch.ts"

/** The choices that the API offers. The operator selects an engine for each. */
const qualities = ["fast", "accurate"] as const
export type Quality = (typeof qualities)[number]

/** The field at fault, and the reason. */
interface Refusal {
  readonly field: "engine" | "language"
  readonly detail: string
}

type Engines = Readonly<Record<Quality, Engine | null>>

const missing = (quality: Quality): string =>
  `this service has no engine for ${quality} transcription; its operator can set STT_${quality.toUpperCase()} and what ` +
  "the engine needs (STT_VOSK_URL, STT_DEEPGRAM_API_KEY or STT_OPENAI_URL), or install pocketsphinx"

/** Shares the places of an engine. A tenant takes at most half of what the others leave, and only a free place. */
const placesOf = (engine: Engine) => {
  // Half of so few places would be none, so they go to whichever tenant comes first.
  const share = FairShare.counted({ capacity: engine.places, times: engine.places > 2 ? 1 : Infinity })
  return <A, R>(tenant: TenantId, effect: Effect.Effect<A, RecognitionFailed, R>) =>
    Effect.suspend(() =>
      share.take(tenant)
        ? Effect.ensuring(
            effect,
            Effect.sync(() => share.giveBack(tenant))
          )
        : Effect.fail(new RecognitionFailed({ reason: "overloaded" }))
    )
}

/** Speech recognition by the engines that this service has, guide/transcription.md. */
export class Recognizer extends Context.Service<
  Recognizer,
  {
    /** Why a request is refused, and for which field; null when it can be recognized. */
    readonly refuse: (wanted: { readonly engine: Quality; readonly language: string }) => Refusal | null
    /** Sound of a higher rate gains nothing. */
    readonly mostRate: (quality: Quality) => SampleRate
    /**
     * Recognizes the sound of a track until its end. Phrases are given as they are recognized, with times in order.
     * When no place is free, it fails as `overloaded` at once.
     */
    readonly recognize: (
      tenant: TenantId,
      quality: Quality,
      sound: Sound,
      give: Give
    ) => Effect.Effect<void, RecognitionFailed>
  }
>()("trunkline/speech/Recognizer") {
  static readonly layerOf = (engines: Engines) =>
    Layer.sync(Recognizer, () => {
      const places = new Map(
        [engines.fast, engines.accurate].flatMap((engine) => (engine === null ? [] : [[engine, placesOf(engine)]]))
      )
      return {
        refuse: ({ engine: quality, language }) => {
          const engine = engines[quality]
          if (engine === null) return { field: "engine", detail: missing(quality) }
          return engine.speaks(language)
            ? null
            : { field: "language", detail: `the engine for ${quality} transcription does not know ${language}` }
        },
        mostRate: (quality) => engines[quality]?.mostRate ?? 8000,
        recognize: (tenant, quality, sound, give) => {
          const engine = engines[quality]
          const within = engine === null ? undefined : places.get(engine)
          return engine === null || within === undefined
            ? Effect.fail(new RecognitionFailed({ reason: "unavailable" }))
            : within(tenant, RecognitionWatch.recognize(engine, sound, give)).pipe(
                RecognitionMetrics.counted(engine.name)
              )
        }
      }
    })

  /** A service that cannot recognize. */
  static readonly none = Recognizer.layerOf({ fast: null, accurate: null })
}
