import * as Resample from "../../audio/Resample.ts"
import type { SampleRate } from "../../audio/SampleRate.ts"
import { type Frame, lengthAt } from "../Frame.ts"

/**
 * Brings a stream of frames to the rate of the leg that hears it. (Sound that a peer sends in a codec of another rate
 * than the agreed one is converted as it is decoded, by `LegDecoder`.)
 *
 * Frames of the wanted rate are copied. Others go through a filter, which is made with the first of them and kept until
 * the rates change; there is one at most.
 */
export interface RateConverter {
  /** Writes `frame` into `out` at the rate of `out`. */
  readonly convert: (frame: Frame, out: Frame) => void
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

  const free = (): void => {
    filter?.resampler.free()
    filter = null
  }

  const between = (from: SampleRate, to: SampleRate): Resample.StreamResampler => {
    if (filter?.from === from && filter.to === to) return filter.resampler
    free()
    const resampler = Resample.stream(from, to, lengthAt(from))
    filter = { from, to, resampler }
    return resampler
  }

  return {
    convert: (frame, out) => {
      if (isOver) return void out.samples.fill(0)
      if (frame.rate === out.rate) return out.samples.set(frame.samples)
      void between(frame.rate, out.rate).convert(frame.samples, out.samples)
    },
    free: () => {
      isOver = true
      free()
    }
  }
}
