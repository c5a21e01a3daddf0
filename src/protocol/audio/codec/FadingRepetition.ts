import * as Splice from "../Splice.ts"
import type { Loss } from "./Codec.ts"

/** The number of frames from full level to silence. */
const fadeFrames = 3
const framesPerSecond = 50

/**
 * The robustness against loss that this gives, ITU-T G.113 appendix I: the value of G.711 with the concealment of G.711
 * appendix I, which repeats the pitch and fades out within 60 ms, too. Without any concealment it is 4.3.
 */
export const robustness = 25.1

/**
 * Conceals losses for codecs without a better way: repeats the last period of the sound before the loss, so that it
 * continues without a step, and fades it out within 60 ms. For one stream; it allocates with the first loss only.
 */
export const make = (): ((out: Int16Array, loss: Loss) => number) => {
  /** The sound before the loss; its last `period` samples are repeated, from `at` on. */
  let heard = new Int16Array(0)
  let period = 0
  let at = 0
  /** How many samples were concealed. */
  let made = 0

  const start = (out: Int16Array, from: number, last: Int16Array): void => {
    const length = last.length + from
    if (heard.length !== length) heard = new Int16Array(length)
    heard.set(last)
    for (let i = 0; i < from; i++) heard[last.length + i] = out[i] ?? 0
    period = Splice.periodOf(heard, out.length * framesPerSecond) ?? last.length
    at = 0
    made = 0
  }

  return (out, { framesBefore, from, last }) => {
    if (framesBefore === 0 || period === 0) start(out, from, last)
    const longest = out.length * fadeFrames
    for (let i = from; i < out.length; i++, made++) {
      const gain = Math.max(0, 1 - made / longest)
      out[i] = Math.round((heard[heard.length - period + at] ?? 0) * gain)
      at = at + 1 === period ? 0 : at + 1
    }
    return Math.max(0, 1 - made / longest)
  }
}
