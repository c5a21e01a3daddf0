import * as Resample from "./Resample.ts"
import type { SampleRate } from "./SampleRate.ts"

interface Sound {
  readonly rate: SampleRate
  readonly samples: Int16Array
}

/** Joins a sound to the one before it, or extends a sound: without an audible step after a loss. */

/** The stretch that is compared to find the period of a sound, and the range of periods: 50 to 400 Hz. */
const windowMs = 5
const shortestMs = 2.5
const longestMs = 20
/** How long one sound fades into the other. */
const fadeMs = 10

/** A period is first searched for at this rate, then found to the sample: a higher rate costs up to ninefold. */
const coarseRate = 16_000

/** The correlation of the end of `sound` with the stretch `lag` samples before, -1 to 1, by every `step`th sample. */
const likeness = (sound: Int16Array, lag: number, window: number, step: number): number => {
  let product = 0
  let power = 0
  let powerBefore = 0
  for (let i = sound.length - window; i < sound.length; i += step) {
    const [one, other] = [sound[i] ?? 0, sound[i - lag] ?? 0]
    product += one * other
    power += one * one
    powerBefore += other * other
  }
  return power === 0 || powerBefore === 0 ? 0 : product / Math.sqrt(power * powerBefore)
}

/** The lag at which the end of a sound is most like itself, by every `step`th from `from` to `to`; 0: empty range. */
const bestLag = (sound: Int16Array, from: number, to: number, window: number, step: number): number => {
  let [lag, best] = [0, Number.NEGATIVE_INFINITY]
  for (let tried = from; tried <= to; tried += step) {
    const found = likeness(sound, tried, window, step)
    if (found > best) [lag, best] = [tried, found]
  }
  return lag
}

/**
 * The period of the end of a sound, in samples: the lag at which it is most like itself. Null: the sound is too short.
 * A peer decides how often this runs, so a high sample rate costs no more than a medium one.
 */
export const periodOf = (sound: Int16Array, rate: number): number | null => {
  const window = (rate * windowMs) / 1000
  const shortest = (rate * shortestMs) / 1000
  const longest = Math.min((rate * longestMs) / 1000, sound.length - window)
  const step = Math.max(1, Math.round(rate / coarseRate))
  const near = bestLag(sound, shortest, longest, window, step)
  if (near === 0) return null
  if (step === 1) return near
  return bestLag(sound, Math.max(shortest, near - step), Math.min(longest, near + step), window, 1)
}

/** Extends a sound by `ms`: its last period is repeated. Null: the sound is too short. */
export const extend = ({ rate, samples: sound }: Sound, ms = fadeMs): Sound | null => {
  const lag = periodOf(sound, rate)
  if (lag === null) return null
  const length = (rate * ms) / 1000
  return { rate, samples: Int16Array.from({ length }, (_, i) => sound[sound.length - lag + (i % lag)] ?? 0) }
}

/** The same at another rate. */
export const extendAt = (sound: Sound, rate: SampleRate, ms: number): Int16Array | null => {
  const beyond = extend(sound, ms)
  if (beyond === null) return null
  const resampler = Resample.make(sound.rate, rate)
  // The filter begins with silence, which must not become audible.
  const whole = Resample.concat([
    resampler.process(Resample.concat([sound.samples, beyond.samples])),
    resampler.flush()
  ])
  resampler.free()
  const from = (sound.samples.length * rate) / sound.rate
  return whole.slice(from, from + (rate * ms) / 1000)
}

/** Fades the beginning of `frame` in over `before`, in a raised cosine. */
export const join = (before: Int16Array, frame: Int16Array): void => {
  const length = Math.min(before.length, frame.length)
  for (let i = 0; i < length; i++) {
    const gain = 0.5 - 0.5 * Math.cos((Math.PI * (i + 0.5)) / length)
    frame[i] = Math.round((frame[i] ?? 0) * gain + (before[i] ?? 0) * (1 - gain))
  }
}
