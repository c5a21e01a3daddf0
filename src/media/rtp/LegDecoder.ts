import type { Codec, Loss } from "../../audio/codec/Codec.ts"
import * as FadingRepetition from "../../audio/codec/FadingRepetition.ts"
import * as Resample from "../../audio/Resample.ts"
import type { SampleRate } from "../../audio/SampleRate.ts"
import type { PayloadDecoder } from "../../rtp/PayloadDecoder.ts"

/** A codec's decoder at the rate of the leg that hears it. */
export interface LegDecoder extends PayloadDecoder {
  readonly free: () => void
}

/** Longest sound in one packet. */
const longestMs = 200

/**
 * A peer may change over to a codec of another rate than the one that was agreed, whose samples are then converted as
 * they are decoded. `rate` is the rate of the leg, which may change; what is decoded after that has the new one.
 */
export const make = (codec: Codec, rate: () => SampleRate): LegDecoder => {
  const inner = codec.decoder()
  const repeat = FadingRepetition.make()
  let native = new Int16Array(0)
  let filter: { readonly to: SampleRate; readonly resampler: Resample.StreamResampler } | null = null

  const free = (): void => {
    filter?.resampler.free()
    filter = null
  }

  const resamplerTo = (to: SampleRate): Resample.StreamResampler => {
    if (filter?.to === to) return filter.resampler
    free()
    const longest = (codec.sampleRate * longestMs) / 1000
    if (native.length === 0) native = new Int16Array(longest)
    const resampler = Resample.stream(codec.sampleRate, to, longest)
    filter = { to, resampler }
    return resampler
  }

  return {
    duration: inner.duration,
    decode: (payload, out) => {
      const to = rate()
      if (to === codec.sampleRate) return inner.decode(payload, out)
      const resampler = resamplerTo(to)
      return resampler.convert(native.subarray(0, inner.decode(payload, native)), out)
    },
    conceal: (out, loss: Loss) => (rate() === codec.sampleRate ? inner.conceal(out, loss) : repeat(out, loss)),
    skip: inner.skip,
    reset: inner.reset,
    free: () => {
      free()
      inner.free()
    }
  }
}
