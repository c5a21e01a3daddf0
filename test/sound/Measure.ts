import * as Click from "../media/mix/Click.ts"
import * as Goertzel from "../support/Goertzel.ts"
import type { Voice } from "./Phone.ts"
import * as Timeline from "./Timeline.ts"

const windowMs = 20
const stepMs = 10

/** Levels of a tone in dBFS, every 10 ms, each over the 20 ms from there on. Tones of whole hundreds do not mix. */
const levels = ({ rate, samples }: Timeline.Sound, hz: number): ReadonlyArray<number> => {
  const [window, step] = [(rate * windowMs) / 1000, (rate * stepMs) / 1000]
  return Array.from({ length: Math.max(0, Math.floor((samples.length - window) / step) + 1) }, (_, i) =>
    Goertzel.level(samples.subarray(i * step, i * step + window), hz, rate)
  )
}

/** Where a tone is, from its first loud window to its last. Times are ms from the beginning of the sound. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
  /** Its median. */
  readonly dbfs: number
  /** The longest time within it in which the tone is more than 6 dB too quiet. */
  readonly gapMs: number
}

export const none: Span = { fromMs: 0, toMs: 0, dbfs: Number.NEGATIVE_INFINITY, gapMs: 0 }

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NEGATIVE_INFINITY

/** Where this tone is heard at no more than 6 dB below its level; `none`: nowhere. */
export const span = (sound: Timeline.Sound, { dbfs, hz }: Voice): Span => {
  const found = levels(sound, hz)
  const isHere = (level: number): boolean => level > dbfs - 6
  const [first, last] = [found.findIndex(isHere), found.findLastIndex(isHere)]
  if (first < 0) return none
  let [gap, longest] = [0, 0]
  for (let i = first; i <= last; i++) {
    gap = isHere(found[i] ?? 0) ? 0 : gap + 1
    longest = Math.max(longest, gap)
  }
  // A hole that is shorter than a window is seen by the windows over it: two of them would be a hole of one step.
  const gapMs = longest === 0 ? 0 : longest * stepMs + windowMs - 2 * stepMs
  return { fromMs: first * stepMs, toMs: last * stepMs + windowMs, dbfs: median(found.slice(first, last + 1)), gapMs }
}

/** The loudest window of a tone, in dBFS. */
export const loudest = (sound: Timeline.Sound, hz: number): number =>
  Math.max(Number.NEGATIVE_INFINITY, ...levels(sound, hz))

/** A step that stands out of what is steady: where, in ms, and how high it is, in dBFS. */
export interface Step {
  readonly atMs: number
  readonly dbfs: number
}

/** In dBFS: a tone of these tests that begins where it crosses zero, as that of a live voice may, is no click. */
const leastStep = -28
const aboveSteady = 2.5

/**
 * The clicks in a sound, by its fourth difference: where that is larger than it would be of a step of -28 dBFS, and 2.5
 * times larger than in any of the steady stretches, which have the noise of the codec and no click.
 */
export const clicks = (sound: Timeline.Sound, steady: ReadonlyArray<Timeline.Sound>): ReadonlyArray<Step> => {
  const { rate, samples } = sound
  const least = Math.max(
    6 * 32_768 * 10 ** (leastStep / 20),
    ...steady.map((stretch) => aboveSteady * Click.largest(stretch.samples))
  )
  const found: Array<Step> = []
  for (let i = 4; i < samples.length; i++) {
    const size = Click.at(samples, i)
    if (size > least) found.push({ atMs: Math.round((i * 1000) / rate), dbfs: 20 * Math.log10(size / 6 / 32_768) })
  }
  return found
}

/** Levels of everything, every 20 ms, in dBFS. */
export const energy = (sound: Timeline.Sound): ReadonlyArray<number> => {
  const window = (sound.rate * windowMs) / 1000
  return Array.from({ length: Math.floor(sound.samples.length / window) }, (_, i) =>
    Goertzel.totalLevel(sound.samples.subarray(i * window, (i + 1) * window))
  )
}

/** Speech by its energy: how long there is any, and where it begins. */
export const speech = (sound: Timeline.Sound, above = -45): { readonly fromMs: number; readonly ms: number } => {
  const loud = energy(sound).map((level) => level > above)
  return { fromMs: loud.indexOf(true) * windowMs, ms: loud.filter(Boolean).length * windowMs }
}
