import * as Codecs from "../../src/protocol/audio/codec/Codecs.ts"
import * as Ramp from "../../src/protocol/audio/Ramp.ts"
import * as Resample from "../../src/protocol/audio/Resample.ts"
import * as Tone from "../../src/protocol/audio/Tone.ts"
import * as Click from "../media/mix/Click.ts"
import * as Goertzel from "../support/Goertzel.ts"
import type { Voice } from "./Phone.ts"
import * as Timeline from "./Timeline.ts"

const windowMs = 20
const stepMs = 10

/** The levels of a tone in dBFS, every 10 ms, each over the next 20 ms. Tones of whole hundreds do not mix. */
const levels = ({ rate, samples }: Timeline.Sound, hz: number): ReadonlyArray<number> => {
  const [window, step] = [(rate * windowMs) / 1000, (rate * stepMs) / 1000]
  return Array.from({ length: Math.max(0, Math.floor((samples.length - window) / step) + 1) }, (_, i) =>
    Goertzel.level(samples.subarray(i * step, i * step + window), hz, rate)
  )
}

/** The extent of a tone, from its first loud window to its last. Times are ms from the beginning of the sound. */
export interface Span {
  readonly fromMs: number
  readonly toMs: number
  /** The median of its level. */
  readonly dbfs: number
  /** The longest time within it in which the tone is more than 6 dB too quiet. */
  readonly gapMs: number
}

export const none: Span = { fromMs: 0, toMs: 0, dbfs: Number.NEGATIVE_INFINITY, gapMs: 0 }

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NEGATIVE_INFINITY

/** Finds this tone at no more than 6 dB below its level; `none`: nowhere. */
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
  // A gap that is shorter than a window shows in the windows over it: two of them would be a gap of one step.
  const gapMs = longest === 0 ? 0 : longest * stepMs + windowMs - 2 * stepMs
  return { fromMs: first * stepMs, toMs: last * stepMs + windowMs, dbfs: median(found.slice(first, last + 1)), gapMs }
}

/**
 * The level of a tone in the loudest 100 ms, in dBFS. Another tone of -14 dBFS, 200 Hz away, that begins or ends at
 * once leaves -50 dBFS there, and G.722 some more: a tone below -45 dBFS counts as absent. A tone that is really
 * present lasts longer.
 */
export const loudest = ({ rate, samples }: Timeline.Sound, hz: number): number => {
  const [window, step] = [rate / 10, rate / 100]
  let most = Number.NEGATIVE_INFINITY
  for (let at = 0; at + window <= samples.length; at += step)
    most = Math.max(most, Goertzel.level(samples.subarray(at, at + window), hz, rate))
  return most
}

/** A conspicuous step: its place in ms, and its height in dBFS. */
export interface Step {
  readonly atMs: number
  readonly dbfs: number
}

/** The path of a sound: the codecs it passed, and the tones in it. */
export interface Way {
  readonly codecs: ReadonlyArray<Codecs.CodecName>
  readonly voices: ReadonlyArray<Voice>
  /** How long the machine stood still: the sound that conceals this is not judged. */
  readonly stood: number
  /** The height of the smallest step that is judged, in dBFS; default -40. */
  readonly leastDbfs?: number
}

/**
 * The height of a step is a sixth of the fourth difference. Where forwarding begins, the decoder of G.722 at the phone
 * continues in the stream of another encoder: until it has adapted, it makes steps of up to -42 dBFS.
 */
const leastStep = (dbfs: number): number => 6 * 32_768 * 10 ** (dbfs / 20)
/** The noise of a codec differs with the phase of a tone. */
const aboveSteady = 2.5
const aboveCodecs = 1.5

/** A sound after it has passed a codec. */
const behind = ({ rate, samples }: Timeline.Sound, name: Codecs.CodecName): Timeline.Sound => {
  const { decoder, encoder, frameOctets, sampleRate } = Codecs.table[name]
  const converter = Resample.make(rate, sampleRate)
  const all = Resample.concat([converter.process(samples), converter.flush()])
  converter.free()
  const [coder, hearer] = [encoder(null), decoder()]
  const out = new Int16Array(all.length)
  const payload = new Uint8Array(frameOctets)
  const frame = sampleRate / 50
  for (let at = 0; at + frame <= all.length; at += frame) {
    const length = coder.encode(all.subarray(at, at + frame), payload, 0)
    if (length > 0) hearer.decode(payload.subarray(0, length), out.subarray(at))
  }
  coder.free()
  hearer.free()
  return { rate: sampleRate, samples: out, fromMs: 0 }
}

const known = new Map<string, number>()

/**
 * The largest fourth difference, after these codecs, of a tone that is faded in and out within 5 ms, wherever in its
 * period: G.722 has to adapt its steps to it, G.711 has steps of 1/16 of it.
 */
const noise = (codecs: Way["codecs"], { dbfs, hz }: Voice): number => {
  const key = `${codecs.join(" ")} ${hz} ${dbfs}`
  const found = known.get(key)
  if (found !== undefined) return found
  const rate = 16_000
  const perMs = rate / 1000
  let most = 0
  for (let phase = 0; phase < 4; phase++) {
    const skipped = Math.round((phase * rate) / hz / 4)
    const tone = Tone.sine(hz, dbfs, 240, rate).slice(skipped, skipped + 200 * perMs)
    Ramp.fadeIn(tone, rate, 0, 0, tone.length)
    Ramp.fadeOut(tone, rate, tone.length, 0, tone.length)
    const samples = new Int16Array(320 * perMs)
    samples.set(tone, (60 + 3 * phase) * perMs)
    const sound = codecs.reduce<Timeline.Sound>(behind, { rate, samples, fromMs: 0 })
    most = Math.max(most, Click.largest(sound.samples))
  }
  known.set(key, most)
  return most
}

/**
 * The clicks in a sound, by its fourth difference: where that exceeds the one of the smallest step, the one that the
 * codecs make of these tones when they are faded in and out, and the one of every steady stretch.
 */
export const clicks = (
  sound: Timeline.Sound,
  { codecs, leastDbfs = -40, stood, voices }: Way,
  steady: ReadonlyArray<Timeline.Sound>
): ReadonlyArray<Step> => {
  if (stood > 0) return []
  const { rate, samples } = sound
  const least = Math.max(
    leastStep(leastDbfs),
    aboveCodecs * voices.reduce((sum, voice) => sum + noise(codecs, voice), 0),
    ...steady.map((stretch) => aboveSteady * Click.largest(stretch.samples))
  )
  const found: Array<Step> = []
  for (let i = 4; i < samples.length; i++) {
    const size = Click.at(samples, i)
    if (size > least) found.push({ atMs: Math.round((i * 1000) / rate), dbfs: 20 * Math.log10(size / 6 / 32_768) })
  }
  return found
}

/** The levels of the whole sound, every 20 ms, in dBFS. */
export const energy = (sound: Timeline.Sound): ReadonlyArray<number> => {
  const window = (sound.rate * windowMs) / 1000
  return Array.from({ length: Math.floor(sound.samples.length / window) }, (_, i) =>
    Goertzel.totalLevel(sound.samples.subarray(i * window, (i + 1) * window))
  )
}

/** Speech by its energy: its total length, and where it begins. */
export const speech = (sound: Timeline.Sound, above = -45): { readonly fromMs: number; readonly ms: number } => {
  const loud = energy(sound).map((level) => level > above)
  return { fromMs: loud.indexOf(true) * windowMs, ms: loud.filter(Boolean).length * windowMs }
}
