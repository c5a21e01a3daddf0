import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as Splice from "../../protocol/audio/Splice.ts"
import * as Frame from "../Frame.ts"

/** Over so long. A filter that begins with the change needs up to 5 ms until its sound is whole. */
const joinMs = 20

export type Continuation = ReturnType<typeof make>

/**
 * What one hears of another, across changes of the rate of either: the first frame behind a change fades in over what was
 * heard before, as that would have gone on.
 */
export const make = () => {
  let last = Frame.make(8000)
  /** The rate in which the last frame was said; null: nothing goes on. */
  let said: SampleRate | null = null

  return {
    /** `frame` is heard, which was said in the rate `of`. Its samples are changed where it is joined. */
    hear: (frame: Frame.Frame, of: SampleRate): void => {
      const isOther = said !== null && (said !== of || last.rate !== frame.rate)
      const before = isOther ? Splice.extendAt(last, frame.rate, joinMs) : null
      if (before !== null) Splice.join(before, frame.samples)
      said = of
      last = Frame.at(frame.rate, last)
      last.samples.set(frame.samples)
    },
    /** Nothing is heard: what comes next is a beginning. */
    rest: (): void => {
      said = null
    }
  }
}
