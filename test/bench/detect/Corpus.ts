import * as Resample from "../../../src/protocol/audio/Resample.ts"
import * as RingbackTone from "../../../src/protocol/audio/RingbackTone.ts"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"
import * as Tone from "../../../src/protocol/audio/Tone.ts"
import * as Line from "./Line.ts"
import * as Random from "./Random.ts"
import * as Speaker from "./Speaker.ts"
import * as Texts from "./Texts.ts"

/**
 * A synthetic corpus of answered calls: people and machines, spoken by espeak-ng and flite, with noise, tones, codecs
 * and loss. It is made from a seed, clip by clip, and split by voice and text; nothing of it is stored.
 *
 * Pauses are log-normal. In read speech they last half a second and hardly ever a whole one; in free speech, such as
 * greetings that people record, longer ones occur (Campione and Véronis, "A large-scale multilingual study of silent
 * pause duration", Speech Prosody 2002).
 */
export const kinds = ["person", "voicemail", "intercept", "fax", "nobody"] as const
export type Kind = (typeof kinds)[number]

export interface Clip {
  readonly kind: Kind
  readonly truth: "human" | "machine" | "unknown"
  /** The kind of the texts or sounds that it is made of. */
  readonly sort: string
  readonly text: string
  readonly voice: string
  readonly line: Line.Line
  readonly sound: Int16Array
  readonly rate: SampleRate
  /** The sound before it is early media. In milliseconds of the sound, as all times here. */
  readonly answeredAt: number
  readonly early: string
  /** When its beep begins and ends; null when it has none. */
  readonly beep: { readonly from: number; readonly to: number } | null
}

export interface Half {
  readonly seed: number
  readonly voices: ReadonlyArray<string>
  readonly texts: Texts.Texts
}

const espeak = (...names: ReadonlyArray<string>) => names.map((name) => `espeak-ng:${name}`)

/** The half of the corpus by which limits are set. */
export const fit: Half = {
  seed: 1,
  voices: [
    ...espeak("en-us", "en-gb", "en-us+f2", "en-us+m1", "en-us+f1", "en-us+m5", "en-029+f3", "en-us+m3", "en-us+f4"),
    ...espeak("en-us+f5", "en-us+m7", "en-gb-scotland+m2", "en-gb-x-rp+m8", "en-us+steph"),
    // These voices are high and breathy, so that their vowels are nearly tones or nearly noise.
    ...espeak("en-us+Jacky", "en-gb+Nguyen", "en-us+steph2", "en-gb-x-gbcwmd+quincy", "en-029+zac", "en-us+robert"),
    ...espeak("en-gb+whisper", "en-gb-x-rp+Michael", "en-us+Andrea", "en-gb+victor", "en-gb-x-gbclan+antonio"),
    ...espeak("en-us+grandma", "en-gb-scotland+Mario", "en-us+boris", "en-gb-x-rp+aunty", "en-us+travis"),
    ...["kal", "awb", "rms", "slt"].map((name) => `flite:${name}`)
  ],
  texts: Texts.fit
}

/** The half of the corpus that is reported; no limit was set by it. */
export const heldOut: Half = {
  seed: 7_341_905,
  voices: [
    ...espeak("en-us+m4", "en-us+m6", "en-us+linda", "en-us+belinda", "en-us+david", "en-us+shelby", "en-us+john"),
    ...espeak("en-us+klatt4", "en-gb-x-gbclan+edward2", "en-gb-x-gbcwmd+anika", "en-gb-scotland+f3")
  ],
  texts: Texts.heldOut
}

const { rate } = Speaker
const frameMs = 20

const samplesOf = (ms: number): number => Math.round((ms * rate) / 1000)
const msOf = (samples: number): number => (samples * 1000) / rate
const silence = (ms: number): Int16Array => new Int16Array(samplesOf(ms))
const lengthOf = (parts: ReadonlyArray<Int16Array>): number => parts.reduce((sum, { length }) => sum + length, 0)

/** The sound of a far end, before noise and line. */
interface Scene {
  readonly sort: string
  readonly text: string
  readonly sound: Int16Array
  readonly beep: Clip["beep"]
  /** When set, all sound up to this moment is early media instead of a ring-back tone. */
  readonly answeredAt?: number
}

interface Maker {
  readonly chance: Random.Random
  readonly say: Speaker.Speaker["say"]
  readonly half: Half
  readonly voice: Speaker.Voice
  readonly other: Speaker.Voice
}

/** Speaks phrases with pauses between them. */
const spoken = (
  { chance, other, say, voice }: Maker,
  text: string,
  level: number,
  pause: () => number
): ReadonlyArray<Int16Array> =>
  text
    .split(/(?<=[.?])\s+(?:\|\s+)?|\s+\|\s+/u)
    .filter((phrase) => phrase !== "")
    .flatMap((phrase, index) => {
      const isOther = phrase.startsWith("<")
      const sound = say(isOther ? other : voice, phrase.replaceAll(/[<>|]/gu, ""))
      // Speech that is put together of pieces has shorter pauses around them.
      const gap = isOther ? chance.between(100, 350) : pause()
      return index === 0 ? [Line.levelled(sound, level)] : [silence(gap), Line.levelled(sound, level)]
    })

const person = (maker: Maker): Scene => {
  const { chance, half, say, voice } = maker
  const level = chance.between(-30, -16)
  const sort = chance.chance(0.55) ? "words" : chance.chance(0.55) ? "residence" : "business"
  const text = chance.of(half.texts[sort])
  const parts = [
    silence(chance.around(700, 0.5, 100, 3000)),
    ...spoken(maker, text, level, () => chance.around(500, 0.4, 150, 1200))
  ]
  // Some people ask again when they get no answer.
  if (chance.chance(0.5)) parts.push(silence(chance.between(1400, 2500)), Line.levelled(say(voice, "Hello?"), level))
  return { sort, text, sound: Resample.concat([...parts, silence(5000)]), beep: null }
}

/** Notes with three overtones, one after the other over a bass. */
const music = (chance: Random.Random, length: number): Int16Array => {
  const out = new Float64Array(length)
  const scale = [0, 2, 4, 5, 7, 9, 11, 12]
  const base = chance.between(180, 330)
  const noteMs = chance.between(180, 420)
  for (let at = 0; at < length; at += samplesOf(noteMs)) {
    const notes = [base * 2 ** (chance.of(scale) / 12), base * 2 ** (chance.of(scale) / 12), base / 2]
    for (let i = 0; i < samplesOf(2 * noteMs) && at + i < length; i++) {
      const fade = Math.exp((-3 * i) / samplesOf(noteMs)) * Math.min(1, i / 160)
      for (const note of notes)
        for (let over = 1; over <= 4; over++)
          out[at + i] = (out[at + i] ?? 0) + (fade * Math.sin((2 * Math.PI * note * over * i) / rate)) / over
    }
  }
  return Int16Array.from(out, (each) => Line.clip(each * 4000))
}

const beepOf = (chance: Random.Random, ms: number): Int16Array => {
  const [hz, dbfs] = [chance.between(440, 1980), chance.between(-24, -10)]
  return chance.chance(0.8) || hz > 1000
    ? Tone.sine(hz, dbfs, ms, rate)
    : Tone.tone(
        [
          { frequency: hz, dbfs },
          { frequency: 2 * hz, dbfs: dbfs - 12 }
        ],
        ms,
        rate
      )
}

const voicemail = (maker: Maker, babble: Int16Array): Scene => {
  const { chance, half } = maker
  const level = chance.between(-30, -16)
  const sort = chance.chance(0.45)
    ? "personal"
    : chance.chance(0.6)
      ? "carrier"
      : chance.chance(0.5)
        ? "closed"
        : "menu"
  const isRead = sort !== "personal"
  const text = chance.of(half.texts[sort])
  const pause = isRead ? () => chance.around(500, 0.35, 150, 1500) : () => chance.around(600, 0.5, 150, 2500)
  const greeting = Resample.concat([
    silence(chance.between(0, 300)),
    ...spoken(maker, text, level, pause),
    silence(chance.between(50, 300))
  ])
  // The noise of a recording begins and ends with it.
  const noise = chance.of(Line.noises)
  const noisy = Line.mixed(
    greeting,
    sort !== "carrier" && isRead && chance.chance(0.3)
      ? Line.levelled(music(chance, greeting.length), level - 15)
      : Line.noiseOf(noise, Math.min(level - 15, chance.between(-65, -42)), greeting.length, babble, chance)
  )
  const parts = [silence(chance.around(800, 0.5, 100, 3000)), noisy]
  let beep: Clip["beep"] = null
  if ((sort === "personal" || sort === "carrier") && chance.chance(0.9)) {
    parts.push(silence(chance.around(400, 0.6, 50, 1500)))
    const from = msOf(lengthOf(parts))
    const ms = chance.between(120, 1000)
    beep = { from, to: from + ms }
    parts.push(beepOf(chance, ms))
  }
  const starts = parts[0]?.length ?? 0
  const scene = { sort, text, sound: Resample.concat([...parts, silence(5000)]), beep }
  // Some carriers begin the greeting before they answer.
  return sort === "carrier" && chance.chance(0.2)
    ? { ...scene, sort: "carrier, begun early", answeredAt: msOf(starts) + chance.between(500, 2500) }
    : scene
}

/** The three special information tones, each with one of its two pitches and lengths in use. */
const special = (chance: Random.Random): Int16Array =>
  Resample.concat(
    [
      [913.8, 985.2, 950],
      [1370.6, 1428.5, 1400],
      [1776.7, 1776.7, 1800]
    ].map((of) => Tone.sine(chance.of(of), -16, chance.of([276, 330, 380]), rate))
  )

const intercept = (maker: Maker): Scene => {
  const { chance, half } = maker
  const text = chance.of(half.texts.intercept)
  const sit = Resample.concat([silence(chance.between(100, 1500)), special(chance), silence(chance.between(100, 800))])
  const said = Resample.concat(spoken(maker, text, chance.between(-26, -16), () => chance.around(500, 0.35, 150, 1500)))
  const isEarly = chance.chance(0.5)
  return {
    sort: isEarly ? "tones before the answer" : "tones",
    text,
    sound: Resample.concat([sit, said, silence(5000)]),
    beep: null,
    ...(isEarly ? { answeredAt: msOf(sit.length) } : {})
  }
}

/** ITU-T V.25: 2100 Hz; V.8: with its phase reversed every 450 ms, and swelling 15 times a second. */
const fax = ({ chance }: Maker): Scene => {
  const isModern = chance.chance(0.5)
  const length = samplesOf(chance.between(2600, 4000))
  const peak = 32_768 * 10 ** (chance.between(-24, -12) / 20)
  const tone = new Int16Array(length).map((_, i) => {
    const ms = msOf(i)
    const sign = isModern && Math.floor(ms / 450) % 2 === 1 ? -1 : 1
    const swell = isModern ? 1 + 0.2 * Math.sin((2 * Math.PI * 15 * ms) / 1000) : 1
    return Line.clip(sign * swell * peak * Math.sin((2 * Math.PI * 2100 * i) / rate))
  })
  return {
    sort: isModern ? "V.8" : "V.25",
    text: "",
    sound: Resample.concat([silence(chance.between(200, 2500)), tone, silence(5000)]),
    beep: null
  }
}

/** The sound for a caller during the ringing: tones, in a fifth of the cases music, or nothing. */
const earlyOf = (chance: Random.Random): { readonly sort: string; readonly sound: Int16Array } => {
  if (chance.chance(0.6)) return { sort: "none", sound: silence(0) }
  if (chance.chance(0.25)) {
    const sound = Line.levelled(music(chance, samplesOf(chance.between(1000, 6000))), chance.between(-30, -18))
    return { sort: "music", sound }
  }
  const { cadenceMs, components } = RingbackTone.table[chance.of(RingbackTone.countries)]
  const rounds = Array.from({ length: 2 }, () =>
    cadenceMs.map((ms, i) => (i % 2 === 0 ? Tone.tone(components, ms, rate) : silence(ms)))
  ).flat()
  const whole = Resample.concat(rounds)
  // The answer may come at any moment of the tone.
  return { sort: "ring-back", sound: whole.slice(0, Math.floor(chance.between(0.3, 1) * whole.length)) }
}

const truths = {
  person: "human",
  voicemail: "machine",
  intercept: "machine",
  fax: "machine",
  nobody: "unknown"
} as const satisfies Readonly<Record<Kind, Clip["truth"]>>

const sceneOf = (kind: Kind, maker: Maker, babble: Int16Array): Scene => {
  switch (kind) {
    case "person":
      return person(maker)
    case "voicemail":
      return voicemail(maker, babble)
    case "intercept":
      return intercept(maker)
    case "fax":
      return fax(maker)
    case "nobody":
      return { sort: "silence", text: "", sound: silence(12_000), beep: null }
  }
}

/** Makes the clips of a half, `counts` of each kind. */
export function* make(half: Half, counts: Readonly<Record<Kind, number>>): Generator<Clip> {
  const speaker = Speaker.make()
  try {
    const chance = Random.make(half.seed)
    const voice = () => ({ name: chance.of(half.voices), pace: chance.of([0.85, 1, 1.15]) })
    /** Six people speak at once. */
    const babble = Array.from({ length: 6 }, () => [...half.texts.carrier, ...half.texts.closed])
      .map((texts, i) => {
        const name = half.voices[i % half.voices.length] ?? ""
        const said = texts.map((text) =>
          Line.levelled(speaker.say({ name, pace: 1 }, text.replaceAll(/[<>|]/gu, "")), -26)
        )
        return Resample.concat([...said.slice(i), ...said.slice(0, i)])
      })
      .reduce((sum, each) => Line.mixed(sum, each))
    for (const kind of kinds)
      for (let i = 0; i < counts[kind]; i++) {
        const maker: Maker = { chance, say: speaker.say, half, voice: voice(), other: voice() }
        const scene = sceneOf(kind, maker, babble)
        const line = Line.draw(chance)
        const early = scene.answeredAt === undefined ? earlyOf(chance) : { sort: "its own", sound: silence(0) }
        const answeredAt = Math.floor((scene.answeredAt ?? msOf(early.sound.length)) / frameMs) * frameMs
        const before = early.sound.subarray(0, scene.answeredAt === undefined ? samplesOf(answeredAt) : 0)
        const shift = msOf(before.length)
        const whole = Resample.concat([before, scene.sound])
        const around = Line.noiseOf(line.noise, line.noiseDbfs, whole.length - before.length, babble, chance)
        const { sound, rate: heardAt } = Line.carried(Line.mixed(whole, around, before.length), line, chance)
        yield {
          kind,
          truth: truths[kind],
          sort: scene.sort,
          text: scene.text,
          voice: maker.voice.name,
          line,
          sound,
          rate: heardAt,
          answeredAt,
          early: early.sort,
          beep: scene.beep === null ? null : { from: scene.beep.from + shift, to: scene.beep.to + shift }
        }
      }
  } finally {
    speaker.close()
  }
}
