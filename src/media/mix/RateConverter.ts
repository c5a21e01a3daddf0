import * as Ramp from "../../protocol/audio/Ramp.ts"
import * as Resample from "../../protocol/audio/Resample.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import { type Frame, lengthAt } from "../Frame.ts"

/**
 * Brings a stream of frames to the rate of the leg that hears it. (Sound that a peer sends in a codec of another rate
 * than the agreed one is converted as it is decoded, by `LegDecoder`.)
 *
 * Frames of the wanted rate are copied. Others go through a filter, which is made with the first of them and kept until
 * the rates change; there is one at most. A filter gives what it gets some milliseconds later. Sound that begins at once
 * would begin there, behind the ramp of whoever fades in what comes out; so it is faded in before the filter.
 */
export interface RateConverter {
  /** Writes `frame` into `out` at the rate of `out`. */
  readonly convert: (frame: Frame, out: Frame) => void
  /** There was nothing to convert for a while: the next frame is a beginning. */
  readonly rest: () => void
  /** The next frame is a beginning, and nothing that was heard before is in it: the filter is given back. */
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
  let isBeginning = true
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
    isBeginning = true
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
      void resampler.convert(isBeginning ? fadedIn(frame) : frame.samples, out.samples)
      isBeginning = false
    },
    rest: () => {
      isBeginning = true
    },
    forget: free,
    free: () => {
      isOver = true
      free()
    }
  }
}
