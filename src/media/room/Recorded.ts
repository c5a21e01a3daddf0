import * as Limiter from "../../protocol/audio/Limiter.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as Frame from "../Frame.ts"
import type { Taps } from "../mix/Tap.ts"

/**
 * The tracks for the taps of a room: `inbound` is the host as the others hear it, `outbound` the rest of the common
 * mix, without the noise. Neither contains a whisper.
 */
export const make = (taps: Taps) => {
  const limiter = Limiter.make()
  let host = Frame.make(8000)
  let others = Frame.make(8000)
  let sum = new Int32Array(0)
  return {
    /** `all` includes the samples of the host, `said`; null: the host is not heard. */
    give: (all: Int32Array, said: Int16Array | null, rate: SampleRate, now: number): void => {
      if (taps.isEmpty()) return
      host = Frame.at(rate, host)
      others = Frame.at(rate, others)
      const { length } = host.samples
      if (sum.length !== length) sum = new Int32Array(length)
      for (let i = 0; i < length; i++) {
        const sample = said?.[i] ?? 0
        host.samples[i] = sample
        sum[i] = (all[i] ?? 0) - sample
      }
      limiter.process(sum, others.samples, rate)
      taps.give("inbound", host, now)
      taps.give("outbound", others, now)
    }
  }
}
