import type { Codec, Loss } from "../../protocol/audio/codec/Codec.ts"
import * as FadingRepetition from "../../protocol/audio/codec/FadingRepetition.ts"
import * as Resample from "../../protocol/audio/Resample.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as Splice from "../../protocol/audio/Splice.ts"
import type { PayloadDecoder } from "../../protocol/rtp/playout/PayloadDecoder.ts"

/** The decoder of a codec, at the rate of the leg that hears it. */
export interface LegDecoder extends PayloadDecoder {
  /** Whether its sound has no delay against the peer's, and does not depend on earlier packets. */
  readonly isExact: () => boolean
  readonly join: (before: Int16Array, sound: Int16Array, other: PayloadDecoder) => void
  readonly free: () => void
}

const isLegDecoder = (decoder: PayloadDecoder): decoder is LegDecoder => "isExact" in decoder

/**
 * How long the sound of one codec fades in over that of another. A filter or a codec that begins needs up to 5 ms until
 * its sound is complete, and is barely audible meanwhile.
 */
export const joinMs = 20

/** The longest sound in one packet. */
const longestMs = 200

/**
 * Decodes a codec for a leg. A peer may change to a codec of another rate than the agreed one, whose samples are then
 * converted as they are decoded. `rate` is the rate of the leg; when it changes, the next packet is decoded at the new
 * one.
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

  const isExact = (): boolean => codec.isStateless && rate() === codec.sampleRate

  return {
    isExact,
    join: (before, sound, other) => {
      if (isExact() && isLegDecoder(other) && other.isExact()) return
      const beyond = Splice.extend({ rate: rate(), samples: before }, joinMs)
      if (beyond !== null) Splice.join(beyond.samples, sound)
    },
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
