import type { SampleRate } from "./SampleRate.ts"

/**
 * The raised cosine over 5 ms by which sound is faded in and out: long enough that a tone cut at its peak leaves less
 * than -75 dB above 1.5 kHz, and too short to be heard as a fade.
 */
const rampMs = 5

const tableOf = (rate: SampleRate): Float64Array => {
  const length = (rate * rampMs) / 1000
  return Float64Array.from({ length }, (_, i) => 0.5 - 0.5 * Math.cos((Math.PI * (i + 0.5)) / length))
}

const tables: Readonly<Record<SampleRate, Float64Array>> = {
  8000: tableOf(8000),
  16000: tableOf(16_000),
  24000: tableOf(24_000),
  48000: tableOf(48_000)
}

/** The samples of a ramp. */
export const lengthAt = (rate: SampleRate): number => tables[rate].length

/** The gain of each sample of a ramp, from nearly 0 to nearly 1. */
export const at = (rate: SampleRate): Float64Array => tables[rate]

/**
 * Fades `samples[from]` up to `samples[to]` in, if the sound began `since` samples before `from`; samples after the end
 * of the ramp stay unchanged.
 */
export const fadeIn = (samples: Int16Array, rate: SampleRate, since: number, from: number, to: number): void => {
  const ramp = tables[rate]
  const end = Math.min(to, from + ramp.length - since)
  for (let i = from; i < end; i++) samples[i] = Math.round((samples[i] ?? 0) * (ramp[since + i - from] ?? 1))
}

/** Fades `samples[from]` up to `samples[to]` out, if the sound lasts for `left` samples from `from` on. */
export const fadeOut = (samples: Int16Array, rate: SampleRate, left: number, from: number, to: number): void => {
  const ramp = tables[rate]
  for (let i = Math.max(from, from + left - ramp.length); i < to; i++)
    samples[i] = Math.round((samples[i] ?? 0) * (ramp[left - 1 - (i - from)] ?? 0))
}
