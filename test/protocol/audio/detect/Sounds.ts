import * as Resample from "../../../../src/protocol/audio/Resample.ts"
import type { SampleRate } from "../../../../src/protocol/audio/SampleRate.ts"
import * as Tone from "../../../../src/protocol/audio/Tone.ts"

/** Sounds for tests of detectors: 8 kHz unless a rate is named, deterministic. */
export const rate = 8000

export const silence = (ms: number): Int16Array => new Int16Array((ms * rate) / 1000)

export const join = (...parts: ReadonlyArray<Int16Array>): Int16Array => Resample.concat(parts)

const clip = (value: number) => Math.max(-32_768, Math.min(32_767, Math.round(value)))

/** Both sounds at once, as long as `sound`. */
export const mixed = (sound: Int16Array, other: Int16Array): Int16Array =>
  sound.map((sample, i) => clip(sample + (other[i] ?? 0)))

/** Uniform numbers from 0 to 1, from a seed. */
export const random = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Steady noise; `dbfs` is its root mean square, 0 for a square of full scale. */
export const noise = (dbfs: number, ms: number, { isBrown = false, seed = 1 } = {}): Int16Array => {
  const next = random(seed)
  let walk = 0
  const samples = Float64Array.from({ length: (ms * rate) / 1000 }, () => {
    let step = -6
    for (let i = 0; i < 12; i++) step += next()
    walk = isBrown ? 0.995 * walk + step : step
    return walk
  })
  const rms = Math.sqrt(samples.reduce((sum, each) => sum + each * each, 0) / samples.length)
  return Int16Array.from(samples, (each) => clip((each / rms) * 32_768 * 10 ** (dbfs / 20)))
}

/**
 * A synthetic voice: a glottal pulse whose pitch falls, through three formants that move from syllable to syllable,
 * with a pause between words. Its level is about `dbfs`.
 */
export const voice = (ms: number, { dbfs = -22, pitch = 120, seed = 1 } = {}): Int16Array => {
  const next = random(seed)
  const out = new Float64Array((ms * rate) / 1000)
  let [phase, until, from, voiced] = [0, 0, 0, true]
  let formants = [500, 1500, 2500]
  const state = [0, 0, 0, 0, 0, 0]
  for (let i = 0; i < out.length; i++) {
    if (i >= until) {
      from = i
      voiced = next() > 0.15
      until = i + Math.round(rate * (voiced ? 0.14 + 0.16 * next() : 0.04 + 0.08 * next()))
      formants = [300 + 500 * next(), 900 + 1200 * next(), 2300 + 500 * next()]
    }
    const x = (i - from) / (until - from)
    phase += (pitch * (1.1 - 0.2 * x + 0.02 * next())) / rate
    const pulse = phase >= 1 ? 1 : 0
    if (phase >= 1) phase -= 1
    let sample = voiced ? (pulse + 0.02 * (next() - 0.5)) * Math.sin(Math.PI * Math.min(1, x * 1.1)) : 0
    for (const [f, centre] of formants.entries()) {
      const radius = Math.exp((-Math.PI * (60 + 40 * f)) / rate)
      const [a, b] = [state[2 * f] ?? 0, state[2 * f + 1] ?? 0]
      const made = sample + 2 * radius * Math.cos((2 * Math.PI * centre) / rate) * a - radius * radius * b
      state[2 * f + 1] = a
      state[2 * f] = made
      sample = made * 0.3
    }
    out[i] = sample
  }
  const rms = Math.sqrt(out.reduce((sum, each) => sum + each * each, 0) / out.length)
  return Int16Array.from(out, (each) => clip((each / rms) * 32_768 * 10 ** (dbfs / 20)))
}

/** Ring-back and the like: two sines on and off. */
export const cadence = (frequencies: ReadonlyArray<number>, dbfs: number, ...ms: ReadonlyArray<number>): Int16Array =>
  join(
    ...ms.map((each, index) =>
      index % 2 === 0
        ? Tone.tone(
            frequencies.map((frequency) => ({ frequency, dbfs })),
            each,
            rate
          )
        : silence(each)
    )
  )

/** Digits of 100 ms with pauses as long. */
export const digits = (text: string, { dbfs = -9, onMs = 100, offMs = 100 } = {}): Int16Array =>
  join(
    ...Array.from(text).flatMap((digit) => {
      const components = Tone.dtmf(digit, dbfs)
      return components === null ? [] : [Tone.tone(components, onMs, rate), silence(offMs)]
    })
  )

export const at = (sound: Int16Array, to: SampleRate): Int16Array => {
  const resampler = Resample.make(rate, to)
  const made = Resample.concat([resampler.process(sound), resampler.flush()])
  resampler.free()
  return made
}

/** Calls `hear` with each whole frame of 20 ms; returns the results. */
export const frames = <A>(sound: Int16Array, of: SampleRate, hear: (samples: Int16Array) => A): ReadonlyArray<A> => {
  const length = of / 50
  return Array.from({ length: Math.floor(sound.length / length) }, (_, i) =>
    hear(sound.subarray(i * length, (i + 1) * length))
  )
}
