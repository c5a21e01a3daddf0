import type { Codec } from "./Codec.ts"
import * as FadingRepetition from "./FadingRepetition.ts"

/**
 * ITU-T G.722 at 64 kbit/s (mode 1): 16 kHz in two bands of 8 kHz, the lower one in 6 bits, the upper one in 2.
 *
 * A filter bank splits the sound; each band is coded as its difference from the prediction of six zeros and two poles,
 * in steps that follow the level. Encoder and decoder adapt predictor and steps by the same codes and stay alike. All
 * arithmetic is fixed point, so that every implementation gives the same bits. The blocks are those of section 6 of the
 * Recommendation, whose names are in capitals; its tables are copied unchanged.
 */

const saturate = (value: number): number => (value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : value)
const clamp = (value: number, limit: number): number => (value > limit ? limit : value < -limit ? -limit : value)

/** LIMIT */
const limit = (value: number): number => (value > 16_383 ? 16_383 : value < -16_384 ? -16_384 : value)
const ignore = (): void => undefined

/** Every other coefficient of the filter bank, for both directions; the others are the same in reverse order. */
const filter = Int32Array.of(3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11)
/** ILB: logarithms of the step become steps. */
const inverseLog = Int32Array.from([
  2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834, 2896, 2960, 3025,
  3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008
])
/** Q6: the decision levels of the lower band's quantizer, for one sign. */
const lowDecisions = Int32Array.from([
  0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1023, 1121, 1219, 1339,
  1458, 1612, 1765, 1980, 2195, 2557, 2919
])
/** ILN, ILP: the code for each interval, by the sign of the difference. */
const lowCodes = {
  negative: Int32Array.from([
    0, 63, 62, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4
  ]),
  positive: Int32Array.from([
    0, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34,
    33, 32
  ])
}
/** QM6: the value of a code of the lower band, in steps. */
const lowValues = Int32Array.from([
  -136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360, -8576, -7856,
  -7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360, -1040, -728, 24808,
  21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456, 4944, 4464, 4008,
  3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432, -136
])
/** QM4: the same for its upper four bits, which alone adapt predictor and steps. */
const lowAdapting = Int32Array.from([
  0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0
])
/** WL by RL42: how the step of the lower band changes after those four bits. */
const lowWeights = Int32Array.of(-60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60)
/** QM2, and WH by RH2: the same for the two bits of the upper band. */
const highValues = Int32Array.of(-7408, -1616, 7408, 1616)
const highWeights = Int32Array.of(798, -214, 798, -214)

const at = (table: Int32Array, index: number): number => table[index] ?? 0

/** The state of a band. The limits are those of blocks 3L and 3H. */
interface Band {
  readonly maxLogStep: number
  readonly stepShift: number
  logStep: number
  step: number
  /** The prediction of the next sample, and the zeros' part of it. */
  predicted: number
  predictedByZeros: number
  readonly zeros: Int32Array
  /** The last six differences, the newest first. */
  readonly differences: Int32Array
  pole1: number
  pole2: number
  reconstructed1: number
  /** The last two sums of the difference and the zeros' prediction. */
  partial1: number
  partial2: number
}

const band = (step: number, stepShift: number, maxLogStep: number): Band => ({
  maxLogStep,
  stepShift,
  logStep: 0,
  step,
  predicted: 0,
  predictedByZeros: 0,
  zeros: new Int32Array(6),
  differences: new Int32Array(6),
  pole1: 0,
  pole2: 0,
  reconstructed1: 0,
  partial1: 0,
  partial2: 0
})
/** Resets a band to its state before the first sample. */
const clear = (band: Band, step: number): void => {
  band.logStep = 0
  band.step = step
  band.predicted = 0
  band.predictedByZeros = 0
  band.zeros.fill(0)
  band.differences.fill(0)
  band.pole1 = 0
  band.pole2 = 0
  band.reconstructed1 = 0
  band.partial1 = 0
  band.partial2 = 0
}
const firstLowStep = 32
const firstHighStep = 8
const lowBand = (): Band => band(firstLowStep, 8, 18_432)
const highBand = (): Band => band(firstHighStep, 10, 22_528)

/** Blocks 3L and 3H: the step follows the size of the codes (LOGSCL, SCALEL; LOGSCH, SCALEH). */
const scale = (band: Band, weight: number): void => {
  const log = Math.min(band.maxLogStep, Math.max(0, ((band.logStep * 127) >> 7) + weight))
  const shift = band.stepShift - (log >> 11)
  const linear = at(inverseLog, (log >> 6) & 31)
  band.logStep = log
  band.step = (shift < 0 ? linear << -shift : linear >> shift) << 2
}

/** Blocks 4L and 4H: the predictor adapts to the quantized difference and predicts the next sample. */
const predict = (band: Band, difference: number): void => {
  const { differences, partial1, partial2, zeros } = band
  // RECONS, PARREC
  const reconstructed = saturate(band.predicted + difference)
  const partial = saturate(band.predictedByZeros + difference)
  // UPPOL2, UPPOL1
  const alike1 = partial >> 15 === partial1 >> 15
  const alike2 = partial >> 15 === partial2 >> 15
  const slope = saturate(band.pole1 << 2)
  const pull = (alike1 ? saturate(-slope) : slope) >> 7
  const pole2 = clamp((alike2 ? 128 : -128) + pull + ((band.pole2 * 32_512) >> 15), 12_288)
  const pole1 = clamp(saturate((alike1 ? 192 : -192) + ((band.pole1 * 32_640) >> 15)), saturate(15_360 - pole2))
  // UPZERO, DELAYA, FILTEZ
  const change = difference === 0 ? 0 : 128
  const sign = difference >> 15
  let byZeros = 0
  for (let i = 5; i >= 0; i--) {
    const old = at(differences, i)
    const zero = saturate((old >> 15 === sign ? change : -change) + ((at(zeros, i) * 32_640) >> 15))
    const newer = i === 0 ? difference : at(differences, i - 1)
    zeros[i] = zero
    differences[i] = newer
    byZeros += (zero * saturate(newer + newer)) >> 15
  }
  // FILTEP, PREDIC
  const newest = saturate(reconstructed + reconstructed)
  const before = saturate(band.reconstructed1 + band.reconstructed1)
  const byPoles = saturate(((pole1 * newest) >> 15) + ((pole2 * before) >> 15))
  band.predictedByZeros = saturate(byZeros)
  band.predicted = saturate(byPoles + band.predictedByZeros)
  band.pole1 = pole1
  band.pole2 = pole2
  band.reconstructed1 = reconstructed
  band.partial2 = partial1
  band.partial1 = partial
}

/** Blocks 2L to 4L for a code of the lower band: both sides adapt by its upper four bits. */
const adaptLow = (low: Band, code: number): void => {
  const difference = (low.step * at(lowAdapting, code >> 2)) >> 15
  scale(low, at(lowWeights, code >> 2))
  predict(low, difference)
}

/** Blocks 2H to 4H; returns the difference of the code. */
const adaptHigh = (high: Band, code: number): number => {
  const difference = (high.step * at(highValues, code)) >> 15
  scale(high, at(highWeights, code))
  predict(high, difference)
  return difference
}

/** QUANTL */
const lowCode = (difference: number, step: number): number => {
  const magnitude = difference >= 0 ? difference : -(difference + 1)
  let interval = 1
  while (interval < 30 && magnitude >= (at(lowDecisions, interval) * step) >> 12) interval++
  return at(difference < 0 ? lowCodes.negative : lowCodes.positive, interval)
}

/** QUANTH */
const highCode = (difference: number, step: number): number => {
  const magnitude = difference >= 0 ? difference : -(difference + 1)
  const isOuter = magnitude >= (564 * step) >> 12
  return difference < 0 ? (isOuter ? 0 : 1) : isOuter ? 2 : 3
}

/** The last 24 samples of a filter bank, the newest last; kept twice, so that they are always contiguous. */
const delayLine = () => {
  const samples = new Int32Array(48)
  let start = 0
  return {
    samples,
    /** Appends two samples; returns where the row of 24 now begins. */
    push: (first: number, second: number): number => {
      samples[start] = first
      samples[start + 1] = second
      samples[start + 24] = first
      samples[start + 25] = second
      start = start === 22 ? 0 : start + 2
      return start
    }
  }
}

/** The clock units in a frame, which are also the most that a loss skips: more makes no difference. */
const frameUnits = 160
const longestSkip = 8 * frameUnits
/** The code that is decoded for each lost frame: 2.5 ms without a difference. */
const silence = new Uint8Array(20).fill(0xff)
const unheard = new Int16Array(40)

const encoder = () => {
  const [low, high] = [lowBand(), highBand()]
  const line = delayLine()
  const { samples: row } = line

  return {
    encode: (samples: Int16Array, out: Uint8Array, from: number): number => {
      const octets = samples.length >> 1
      for (let octet = 0; octet < octets; octet++) {
        // TRANSMIT QMF
        const start = line.push(samples[2 * octet] ?? 0, samples[2 * octet + 1] ?? 0)
        let even = 0
        let odd = 0
        for (let i = 0; i < 12; i++) {
          odd += at(row, start + 2 * i) * at(filter, i)
          even += at(row, start + 2 * i + 1) * at(filter, 11 - i)
        }
        const lower = lowCode(saturate(((even + odd) >> 14) - low.predicted), low.step)
        const upper = highCode(saturate(((even - odd) >> 14) - high.predicted), high.step)
        adaptLow(low, lower)
        adaptHigh(high, upper)
        out[from + octet] = (upper << 6) | lower
      }
      return octets
    },
    reported: ignore,
    free: ignore
  }
}

const decoder = () => {
  const [low, high] = [lowBand(), highBand()]
  const line = delayLine()
  const { samples: row } = line

  const decode = (payload: Uint8Array, out: Int16Array): number => {
    for (let octet = 0; octet < payload.length; octet++) {
      const code = payload[octet] ?? 0
      const lower = code & 63
      const lowSound = limit(low.predicted + ((low.step * at(lowValues, lower)) >> 15))
      adaptLow(low, lower)
      const expected = high.predicted
      const highSound = limit(expected + adaptHigh(high, code >> 6))
      // RECEIVE QMF
      const start = line.push(lowSound + highSound, lowSound - highSound)
      let first = 0
      let second = 0
      for (let i = 0; i < 12; i++) {
        second += at(row, start + 2 * i) * at(filter, i)
        first += at(row, start + 2 * i + 1) * at(filter, 11 - i)
      }
      out[2 * octet] = saturate(first >> 11)
      out[2 * octet + 1] = saturate(second >> 11)
    }
    return payload.length * 2
  }

  return {
    duration: (_: Uint8Array, start: number, end: number): number => end - start,
    decode,
    conceal: FadingRepetition.make(),
    // The encoder's state has advanced meanwhile. Steps that are too large would be heard as a burst, so the decoder
    // gets a moment of silence for each frame: measured on speech, that leaves a tenth of the bursts and costs no
    // similarity.
    skip: (units: number): void => {
      for (let lost = Math.min(units, longestSkip); lost > 0; lost -= frameUnits) decode(silence, unheard)
    },
    reset: (): void => {
      clear(low, firstLowStep)
      clear(high, firstHighStep)
      row.fill(0)
    },
    free: ignore
  }
}

export const codec: Codec = {
  encoding: "G722",
  // RFC 3551 section 4.5.2 keeps an error of RFC 1890: half the rate of the samples.
  clockRate: 8000,
  channels: 1,
  payloadType: 9,
  fmtp: null,
  sampleRate: 16_000,
  frameOctets: 160,
  isStateless: false,
  isPlain: true,
  // On the scale of narrow-band speech its width gains nothing.
  // The recommendation has figures on the wide-band scale only; the concealment is that of G.711.
  impairment: { ie: 0, bpl: FadingRepetition.robustness },
  encoder,
  decoder
}
