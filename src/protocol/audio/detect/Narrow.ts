import type { SampleRate } from "../SampleRate.ts"

/** The rate of all detectors: the differences between a voice and a tone are below 4 kHz. */
export const detectRate = 8000
/** The samples of 20 ms at that rate. */
export const frameLength = 160

/** The taps for each input sample of an output sample; 40 dB down at 4.6 kHz. */
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

/**
 * Converts a stream of frames of 20 ms, each of any of our rates, to 8 kHz. The output lags by 0.6 ms; at a change of
 * the rate, up to 1.3 ms are distorted.
 */
export const make = () => {
  const out = new Float64Array(frameLength)
  let rate: SampleRate = detectRate
  let taps: Float64Array = new Float64Array(0)
  /** The earlier samples that the filter needs, then the frame. */
  let buffer = new Float64Array(0)

  const start = (next: SampleRate): void => {
    rate = next
    const factor = rate / detectRate
    taps = filterOf(factor)
    buffer = new Float64Array(taps.length - 1 + frameLength * factor)
  }

  return {
    /** Takes 20 ms of `samples` at the rate `at`; missing ones are silence. The result is lent until the next call. */
    next: (samples: Int16Array, at: SampleRate): Float64Array => {
      if (at === detectRate) {
        for (let i = 0; i < frameLength; i++) out[i] = samples[i] ?? 0
        rate = at
        return out
      }
      if (at !== rate) start(at)
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
