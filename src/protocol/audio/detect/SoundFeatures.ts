import type { SampleRate } from "../SampleRate.ts"
import * as Narrow from "./Narrow.ts"
import * as Spectrum from "./Spectrum.ts"

/** The last 64 ms of sound as sines: the two strongest peaks, and their shares of the energy. */
export interface Peaks {
  /** The frequency in Hz, to a fraction of a bin. */
  readonly first: number
  readonly second: number
  /** The share of all energy in the lobe of the first peak, and of the second, 0 to 1. */
  readonly firstShare: number
  readonly secondShare: number
  /** The width of the first peak, as its variance in bins squared: a third for a sine, more for two that are near. */
  readonly spread: number
  /** The level of the first peak, 0 for a sine of full scale. */
  readonly dbfs: number
  /** The geometric over the arithmetic mean of the bins: 0 for sines, about 0.56 for white noise and for brown. */
  readonly flatness: number
}

/** The features of a frame of 20 ms. */
export interface SoundFeatures {
  /** The level above 80 Hz or so, 0 for a square of full scale, -3 for such a sine; -120 for silence. */
  readonly dbfs: number
  /** The same with high frequencies raised, so that low noise (mains, traffic) counts for less. */
  readonly whitened: number
  /** Computed on demand; valid until the next frame. */
  readonly peaks: () => Peaks
}

export const silence = -120
const fullScale = 32_768

const dbOf = (power: number): number => (power <= 1e-12 ? silence : 10 * Math.log10(power))

/** Speech and tones of the network are between these frequencies. */
const [lowest, highest] = [150, 3700].map((hz) => Math.round(hz / Spectrum.binHz)) as [number, number]
/** The lobe of a sine in a Hann window: its peak, two bins on each side, and one more for a sine between two bins. */
const lobe = 3

const sumAround = (power: Float64Array, peak: number): number => {
  let sum = 0
  for (let k = Math.max(lowest, peak - lobe); k <= Math.min(highest, peak + lobe); k++) sum += power[k] ?? 0
  return sum
}

const spreadAround = (power: Float64Array, peak: number): number => {
  let [sum, first, second] = [1e-15, 0, 0]
  for (let k = -lobe - 1; k <= lobe + 1; k++) {
    const each = power[peak + k] ?? 0
    sum += each
    first += each * k
    second += each * k * k
  }
  return second / sum - (first / sum) ** 2
}

const peakOf = (power: Float64Array, besides: number): number => {
  let best = -1
  for (let k = lowest; k <= highest; k++)
    if (Math.abs(k - besides) > lobe && (best < 0 || (power[k] ?? 0) > (power[best] ?? 0))) best = k
  return best
}

/** The frequency of the peak between the bins: exact for a sine in a Hann window. */
const hzOf = (power: Float64Array, k: number): number => {
  const [left, middle, right] = [power[k - 1], power[k], power[k + 1]].map((each) => Math.sqrt(each ?? 0)) as [
    number,
    number,
    number
  ]
  if (middle === 0) return 0
  const offset = right > left ? (2 * right - middle) / (right + middle) : -(2 * left - middle) / (left + middle)
  return (k + Math.max(-0.5, Math.min(0.5, offset))) * Spectrum.binHz
}

/** The effect of the first difference of the samples on each bin. */
const tilt = Float64Array.from({ length: Spectrum.bins }, (_, k) => Math.sin((Math.PI * k) / Spectrum.size) ** 2)
const tiltMean = Math.exp(
  tilt.subarray(lowest, highest + 1).reduce((sum, each) => sum + Math.log(each), 0) / (highest - lowest + 1)
)

/** `grouped` powers of at least `least` can be multiplied without an underflow to 0. */
const [least, grouped] = [1e-15, 16]

const flatnessOf = (power: Float64Array): number => {
  let [logs, product, sum, tilted] = [0, 1, 0, 0]
  for (let k = lowest; k <= highest; k++) {
    const each = (power[k] ?? 0) + least
    sum += each
    tilted += each * (tilt[k] ?? 0)
    product *= each
    // One logarithm is taken for each group, because it costs more than all other steps here.
    if ((k - lowest) % grouped !== grouped - 1) continue
    logs += Math.log(product)
    product = 1
  }
  const count = highest - lowest + 1
  const mean = count * Math.exp((logs + Math.log(product)) / count)
  return Math.max(mean / sum, (mean * tiltMean) / tilted)
}

const peaksOf = (power: Float64Array): Peaks => {
  let total = 1e-15
  for (let k = lowest; k <= highest; k++) total += power[k] ?? 0
  const first = peakOf(power, Number.NEGATIVE_INFINITY)
  const second = peakOf(power, first)
  const firstPower = sumAround(power, first)
  return {
    first: hzOf(power, first),
    second: hzOf(power, second),
    firstShare: firstPower / total,
    secondShare: Math.max(0, Math.min(sumAround(power, second), total - firstPower)) / total,
    spread: spreadAround(power, first),
    dbfs: dbOf(firstPower),
    flatness: flatnessOf(power)
  }
}

/** Computes the features of a stream of frames of 20 ms, each of any of our rates. */
export const make = () => {
  const narrow = Narrow.make()
  const spectrum = Spectrum.make()
  /** The last 64 ms, in full scale. */
  const window = new Float64Array(Spectrum.size)
  /** The state of the high-pass filter. */
  let [before, kept] = [0, 0]
  let known: Peaks | null = null

  return {
    /** The last 20 ms at 8 kHz, in full scale; lent. */
    frame: (): Float64Array => window.subarray(Spectrum.size - Narrow.frameLength),
    next: (samples: Int16Array, rate: SampleRate): SoundFeatures => {
      const frame = narrow.next(samples, rate)
      window.copyWithin(0, Narrow.frameLength)
      const from = Spectrum.size - Narrow.frameLength
      let [energy, whitened] = [0, 0]
      for (let i = 0; i < Narrow.frameLength; i++) {
        const sample = (frame[i] ?? 0) / fullScale
        window[from + i] = sample
        const passed = sample - before + 0.94 * kept
        const raised = passed - 0.95 * kept
        before = sample
        kept = passed
        energy += passed * passed
        whitened += raised * raised
      }
      known = null
      return {
        dbfs: dbOf(energy / Narrow.frameLength),
        whitened: dbOf(whitened / Narrow.frameLength),
        peaks: () => (known ??= peaksOf(spectrum.of(window)))
      }
    }
  }
}
