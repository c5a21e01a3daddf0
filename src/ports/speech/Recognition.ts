import { Data, type Effect } from "effect"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"

/** Why sound was not recognized, or not to its end. */
export class RecognitionFailed extends Data.TaggedError("RecognitionFailed")<{
  /**
   * `unavailable`: the engine cannot be reached. `failed`: it broke off, or answered what is no transcript. `timeout`:
   * its last results did not come. `slow`: it takes less sound than is said. `flooded`: it says more than anybody can.
   * `overloaded`: it has no place.
   */
  readonly reason: "unavailable" | "failed" | "timeout" | "slow" | "flooded" | "overloaded"
}> {}

/** Times are milliseconds of the session's sound. */
export interface Word {
  readonly word: string
  readonly startMs: number
  readonly endMs: number
  /** 0 to 1; null: the engine does not say. */
  readonly confidence: number | null
}

/** A phrase that will not change any more. */
export interface Phrase {
  readonly text: string
  readonly confidence: number | null
  readonly startMs: number
  readonly endMs: number
  /** In their order; none where the engine gives none. */
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
   * The next stretch of it, or null once it is over. What is not taken waits with whoever gives it, who bounds that and
   * ends the session of an engine that falls behind. An interruption loses nothing.
   */
  readonly take: Effect.Effect<Int16Array | null>
}

/**
 * An engine that turns speech into text.
 *
 * `recognize` gives phrases as they are final, and succeeds when the sound is over and its last phrase is given; an
 * interruption stops the work. An engine need not guard itself: what it says and how long it takes is watched
 * (`RecognitionWatch.ts`).
 */
export interface Engine {
  readonly name: string
  /** It gains nothing by sound of a higher rate. */
  readonly mostRate: SampleRate
  /** Tracks that it recognizes at once. */
  readonly places: number
  readonly speaks: (language: string) => boolean
  readonly recognize: (sound: Sound, give: Give) => Effect.Effect<void, RecognitionFailed>
}
