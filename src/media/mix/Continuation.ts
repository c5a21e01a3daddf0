import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as Splice from "../../protocol/audio/Splice.ts"
import * as Frame from "../Frame.ts"

/** The length of the join. A filter that begins with the change needs up to 5 ms until its sound is complete. */
const joinMs = 20

/**
 * Joins the sound that one leg hears of another across changes of either rate: the first frame after a change fades in
 * over a continuation of the sound before it.
 */
export const make = () => {
  let last = Frame.make(8000)
  /** The rate of the speaker in the last frame; null: no sound is under way. */
  let said: SampleRate | null = null

  return {
    /** Takes the next frame that is heard, spoken in the rate `of`. Its samples are changed where it is joined. */
    hear: (frame: Frame.Frame, of: SampleRate): void => {
      const isOther = said !== null && (said !== of || last.rate !== frame.rate)
      const before = isOther ? Splice.extendAt(last, frame.rate, joinMs) : null
      if (before !== null) Splice.join(before, frame.samples)
      said = of
      last = Frame.at(frame.rate, last)
      last.samples.set(frame.samples)
    },
    /** Marks a silence: the next frame is a beginning. */
    rest: (): void => {
      said = null
    }
  }
}
