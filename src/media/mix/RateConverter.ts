import * as Ramp from "../../protocol/audio/Ramp.ts"
import * as Resample from "../../protocol/audio/Resample.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import { type Frame, lengthAt } from "../Frame.ts"

/**
 * Brings a stream of frames to the rate of the leg that hears it. (If a peer sends a codec of another rate than the
 * agreed one, `LegDecoder` converts its sound as it is decoded.)
 *
 * Frames of the wanted rate are copied. Others pass a filter, which is made with the first of them and kept until the
 * rates change; there is at most one. The filter delays sound by some milliseconds. So the caller's fade-in of the
 * output would be over before the sound begins, and the converter fades it in before the filter.
 */
export interface RateConverter {
  /** Writes `frame` into `out` at the rate of `out`. */
  readonly convert: (frame: Frame, out: Frame) => void
  /** Marks a pause: the next frame is a beginning. */
  readonly rest: () => void
  /** Gives the filter back: the next frame is a beginning, without a rest of earlier sound. */
  readonly forget: () => void
  /** Gives the filter back for good: every frame from now on is silence. */
  readonly free: () => void
}

interface Filter {
  readonly from: SampleRate
  readonly to: SampleRate
  readonly resampler: Resample.StreamResampler
}

export const make = (): RateConverter => {
  let filter: Filter | null = null
  let isOver = false
  let isStarting = true
  let first = new Int16Array(0)

  const free = (): void => {
    filter?.resampler.free()
    filter = null
  }

  const between = (from: SampleRate, to: SampleRate): Resample.StreamResampler => {
    if (filter?.from === from && filter.to === to) return filter.resampler
    free()
    const resampler = Resample.stream(from, to, lengthAt(from))
    filter = { from, to, resampler }
    isStarting = true
    return resampler
  }

  const fadedIn = ({ rate, samples }: Frame): Int16Array => {
    if (first.length !== samples.length) first = new Int16Array(samples.length)
    first.set(samples)
    Ramp.fadeIn(first, rate, 0, 0, first.length)
    return first
  }

  return {
    convert: (frame, out) => {
      if (isOver) return void out.samples.fill(0)
      if (frame.rate === out.rate) return out.samples.set(frame.samples)
      const resampler = between(frame.rate, out.rate)
      void resampler.convert(isStarting ? fadedIn(frame) : frame.samples, out.samples)
      isStarting = false
    },
    rest: () => {
      isStarting = true
    },
    forget: free,
    free: () => {
      isOver = true
      free()
    }
  }
}
