import { Context, Effect, Layer, Result } from "effect"
import * as FairSemaphore from "../../domain/fair/FairSemaphore.ts"
import * as Policies from "../../domain/fair/Policies.ts"
import type { TenantId } from "../../domain/Id.ts"
import type { Speech } from "../media/PlaybackMessages.ts"
import { type Engine, type Give, SpeechFailed, type Utterance } from "./Engine.ts"
import * as Sentences from "./Sentences.ts"
import * as SpeechMetrics from "./SpeechMetrics.ts"
import * as Voices from "./Voices.ts"
import * as VoiceView from "./VoiceView.ts"
import * as Watch from "./Watch.ts"

/** A text in parts that are made one by one. */
export interface Script {
  readonly parts: ReadonlyArray<(give: Give) => Effect.Effect<void, SpeechFailed>>
  /** The number of parts that may be made before the earlier ones have ended. */
  readonly ahead: number
}

/**
 * Speech synthesis by the engines that this service has, guide/speech.md. Their places are shared fairly by tenant
 * (src/domain/README.md#fair-shares).
 */
export class Synthesizer extends Context.Service<
  Synthesizer,
  {
    /** Voices that speak a language, or all voices, those of the default engine first. Empty without an engine. */
    readonly voices: (language: string | null) => ReadonlyArray<VoiceView.Voice>
    /** Why a speech is refused, and for which field; null when it can be spoken. */
    readonly refuse: (speech: Omit<Speech, "text">) => Voices.Refusal | null
    /** Prepares a text; no sound is made yet. */
    readonly open: (tenant: TenantId, speech: Speech) => Effect.Effect<Script, SpeechFailed>
  }
>()("trunkline/speech/Synthesizer") {
  /** The first engine is the default one. */
  static readonly layerOf = (engines: ReadonlyArray<Engine>) =>
    Layer.sync(Synthesizer, () => {
      const lines = new Map(
        engines.map((engine) => [engine, FairSemaphore.make({ ...Policies.utterances, places: engine.places })])
      )

      const speak = (engine: Engine, tenant: TenantId, utterance: Utterance) => (give: Give) => {
        const line = lines.get(engine)
        const spoken = Watch.speak(engine, utterance, give)
        const inLine = line === undefined ? spoken : line.within(tenant)(spoken)
        return inLine.pipe(
          Effect.catchTag("NoCapacity", () => Effect.fail(new SpeechFailed({ reason: "overloaded" }))),
          SpeechMetrics.counted(engine.name)
        )
      }

      return {
        voices: (language) => VoiceView.of(language === null ? engines : Voices.speaking(engines, language)),
        refuse: (speech) =>
          Result.match(Voices.choose(engines, speech), { onSuccess: () => null, onFailure: (no) => no }),
        open: (tenant, speech) =>
          Effect.suspend(() => {
            const chosen = Voices.choose(engines, speech)
            if (Result.isFailure(chosen)) return Effect.fail(new SpeechFailed({ reason: "voice_unavailable" }))
            const { engine, voice } = chosen.success
            const isSsml = speech.textType === "ssml"
            const texts = isSsml ? [speech.text] : Sentences.split(speech.text)
            return Effect.succeed({
              parts: texts.map((text) => speak(engine, tenant, { text, isSsml, voice: voice.name })),
              ahead: engine.ahead
            })
          })
      }
    })

  /** A service that cannot speak. */
  static readonly none = Synthesizer.layerOf([])
}
