import { Data, type Effect } from "effect"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"

/** Why sound was not recognized, or not to its end. */
export class RecognitionFailed extends Data.TaggedError("RecognitionFailed")<{
  /**
   * `unavailable`: the engine cannot be reached. `failed`: it broke off, or its answer is no transcript. `timeout`: its
   * last results did not come. `slow`: it takes less sound than is spoken. `flooded`: it returns more than anybody can
   * speak. `overloaded`: it has no free place.
   */
  readonly reason: "unavailable" | "failed" | "timeout" | "slow" | "flooded" | "overloaded"
}> {}

/** Times are milliseconds of the session's sound. */
export interface Word {
  readonly word: string
  readonly startMs: number
  readonly endMs: number
  /** 0 to 1; null when the engine does not report it. */
  readonly confidence: number | null
}

/** A phrase that is final. */
export interface Phrase {
  readonly text: string
  readonly confidence: number | null
  readonly startMs: number
  readonly endMs: number
  /** The words in order; empty when the engine gives none. */
  readonly words: ReadonlyArray<Word>
}

/** Takes phrases as they are recognized. Never throws. */
export type Give = (phrase: Phrase) => void

/** The sound of one track, silence included. */
export interface Sound {
  readonly rate: SampleRate
  /** BCP 47. */
  readonly language: string
  /**
   * The next stretch of sound, or null when the sound is over. Sound that is not taken waits in its source, which
   * bounds it and ends the session of an engine that is too slow. An interruption loses nothing.
   */
  readonly take: Effect.Effect<Int16Array | null>
}

/**
 * An engine that turns speech into text.
 *
 * `recognize` gives each phrase when it is final, and succeeds when the sound is over and its last phrase is given; an
 * interruption stops the work. An engine need not guard itself: `RecognitionWatch.ts` watches how much it returns and
 * how long it takes.
 */
export interface Engine {
  readonly name: string
  /** The engine gains nothing from sound of a higher rate. */
  readonly mostRate: SampleRate
  /** The number of tracks that it recognizes at once. */
  readonly places: number
  readonly speaks: (language: string) => boolean
  readonly recognize: (sound: Sound, give: Give) => Effect.Effect<void, RecognitionFailed>
}
