import { Data, type Effect } from "effect"

/** Why a text was not spoken, or not to its end; the words of `call.speak_ended`. */
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

/** What an engine is asked to say at once: a sentence or two, or a document of SSML. */
export interface Utterance {
  readonly text: string
  readonly isSsml: boolean
  /** The engine's own name of a voice. */
  readonly voice: string
}

/** A voice of an engine. */
export interface Voice {
  /** The engine's own name of it. */
  readonly name: string
  /** BCP 47; null: it speaks whatever language the text is in. */
  readonly language: string | null
  readonly gender: "male" | "female" | null
}

/**
 * An engine that turns text into speech.
 *
 * `speak` gives speech as it is made and succeeds when all is said; an interruption stops the work. An engine need not
 * guard itself: how long it may be silent and how much it may say is watched here (`Watch.ts`).
 */
export interface Engine {
  /** The part of a voice's name before the dot. */
  readonly name: string
  readonly voices: ReadonlyArray<Voice>
  readonly takesSsml: boolean
  /** Utterances that it makes at once. */
  readonly places: number
  /** Utterances of one text that may be made before those before them have ended. */
  readonly ahead: number
  readonly speak: (utterance: Utterance, give: Give) => Effect.Effect<void, SpeechFailed>
}
