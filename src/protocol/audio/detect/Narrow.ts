import type { SampleRate } from "../SampleRate.ts"

/** The rate at which detectors listen: what tells a voice from a tone is below 4 kHz. */
export const detectRate = 8000
/** Samples of 20 ms at that rate. */
export const frameLength = 160

/** Taps for each sample that is left out; 40 dB down at 4.6 kHz. */
const tapsEach = 10

/** A windowed sinc (Hamming) with its corner at 3.7 kHz. */
const filterOf = (factor: number): Float64Array => {
  const length = tapsEach * factor + 1
  const corner = 3700 / (detectRate * factor)
  const taps = Float64Array.from({ length }, (_, i) => {
    const x = i - (length - 1) / 2
    const sinc = x === 0 ? 2 * corner : Math.sin(2 * Math.PI * corner * x) / (Math.PI * x)
    return sinc * (0.54 - 0.46 * Math.cos((2 * Math.PI * i) / (length - 1)))
  })
  const sum = taps.reduce((total, tap) => total + tap, 0)
  return taps.map((tap) => tap / sum)
}

export type Narrow = ReturnType<typeof make>

/**
 * A stream of frames of 20 ms, each of any of our rates, as frames of 8 kHz. What comes out lags by 0.6 ms; where the
 * rate changes, up to 1.3 ms sound wrong.
 */
export const make = () => {
  const out = new Float64Array(frameLength)
  let rate: SampleRate = detectRate
  let taps: Float64Array = new Float64Array(0)
  /** What the filter still needs, then the frame. */
  let buffer = new Float64Array(0)

  const begin = (next: SampleRate): void => {
    rate = next
    const factor = rate / detectRate
    taps = filterOf(factor)
    buffer = new Float64Array(taps.length - 1 + frameLength * factor)
  }

  return {
    /** `samples`: 20 ms at `at`; what is missing is silence. The result is lent until the next call. */
    next: (samples: Int16Array, at: SampleRate): Float64Array => {
      if (at === detectRate) {
        for (let i = 0; i < frameLength; i++) out[i] = samples[i] ?? 0
        rate = at
        return out
      }
      if (at !== rate) begin(at)
      const factor = at / detectRate
      const history = taps.length - 1
      const length = frameLength * factor
      buffer.copyWithin(0, length)
      for (let i = 0; i < length; i++) buffer[history + i] = samples[i] ?? 0
      for (let i = 0; i < frameLength; i++) {
        let sum = 0
        const from = i * factor
        for (let k = 0; k <= history; k++) sum += (taps[k] ?? 0) * (buffer[from + k] ?? 0)
        out[i] = sum
      }
      return out
    }
  }
}
