import { Data, type Effect } from "effect"

/** Why a text was not spoken, or not to its end. `call.speak_ended` uses the same words. */
export class SpeechFailed extends Data.TaggedError("SpeechFailed")<{
  readonly reason: "voice_unavailable" | "speech_failed" | "speech_timeout" | "too_large" | "overloaded"
}> {}

/** A stretch of speech: one channel, 16 bits. */
export interface Spoken {
  readonly rate: number
  readonly samples: Int16Array
}

/** Takes speech as it is made. Never throws. */
export type Give = (spoken: Spoken) => void

/** A text that an engine speaks in one go: a sentence or two, or a document of SSML. */
export interface Utterance {
  readonly text: string
  readonly isSsml: boolean
  /** The engine's own name for a voice. */
  readonly voice: string
}

/** A voice of an engine. */
export interface Voice {
  /** The engine's own name for it. */
  readonly name: string
  /** BCP 47; null: it speaks the language of the text. */
  readonly language: string | null
  readonly gender: "male" | "female" | null
}

/**
 * An engine that turns text into speech.
 *
 * `speak` gives speech as it is made and succeeds when all of it is given; an interruption stops the work. An engine
 * need not guard itself: `Watch.ts` watches how long it is silent and how much it says.
 */
export interface Engine {
  /** The part of a voice's name before the dot. */
  readonly name: string
  readonly voices: ReadonlyArray<Voice>
  readonly takesSsml: boolean
  /** The number of utterances that it makes at once. */
  readonly places: number
  /** The number of utterances of one text that may be made before the earlier ones have ended. */
  readonly ahead: number
  readonly speak: (utterance: Utterance, give: Give) => Effect.Effect<void, SpeechFailed>
}
