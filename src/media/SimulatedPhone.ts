import * as Tone from "../protocol/audio/Tone.ts"
import { type FarEnd, withoutPackets } from "./FarEnd.ts"
import * as Frame from "./Frame.ts"

/** A stretch of the sound of a phone. `speech` is a voice in syllables, which rise and fall. */
export type Part =
  | { readonly sound: "speech" | "silence"; readonly ms: number }
  | { readonly sound: "tone"; readonly ms: number; readonly components: ReadonlyArray<Tone.Component> }

/**
 * The script of a simulated phone. It begins with the media: at the answer, or before it with early media.
 *
 * `echo` returns the sound it gets, 20 ms later, and repeats the digits it gets. `plays` plays its parts one after the
 * other, once or again and again. `press` dials `digits` after `afterMs` and again every `everyMs` (0: once). `acts`
 * says `samples`, of 16 kHz, and presses each digit at its time, in milliseconds from the beginning.
 */
export type PhoneScript =
  | { readonly type: "echo" }
  | { readonly type: "silence" }
  | { readonly type: "plays"; readonly parts: ReadonlyArray<Part>; readonly repeats: boolean }
  | { readonly type: "press"; readonly digits: string; readonly afterMs: number; readonly everyMs: number }
  | {
      readonly type: "acts"
      readonly samples: Int16Array
      readonly presses: ReadonlyArray<{ readonly digit: string; readonly atMs: number }>
    }

/** The time between the beginnings of two digits that a phone presses. */
export const digitIntervalMs = 200

/** The rate of every simulated phone: the widest that a call can have without a filter between two phones. */
export const sampleRate = 16_000
const syllableMs = 250
/** Roughly a voice of 120 Hz with three formants. */
const voice: ReadonlyArray<Tone.Component> = [
  { frequency: 120, dbfs: -26 },
  { frequency: 240, dbfs: -22 },
  { frequency: 720, dbfs: -20 },
  { frequency: 1080, dbfs: -24 },
  { frequency: 2400, dbfs: -32 }
]

/** Renders syllables, each rising and falling, with a pause as its last quarter. */
const speech = (ms: number): Int16Array => {
  const samples = Tone.tone(voice, ms, sampleRate)
  const length = (syllableMs * sampleRate) / 1000
  return samples.map((sample, i) => sample * Math.max(0, Math.sin(((i % length) / length) * (4 / 3) * Math.PI)))
}

const soundOf = (part: Part): Int16Array => {
  switch (part.sound) {
    case "speech":
      return speech(part.ms)
    case "silence":
      return new Int16Array((part.ms * sampleRate) / 1000)
    case "tone":
      return Tone.tone(part.components, part.ms, sampleRate)
  }
}

/** The sounds of scripts, which many phones share. They are about as many as the scripts in the table of numbers. */
const rendered = new Map<string, Int16Array>()
const maxRendered = 64

const render = (parts: ReadonlyArray<Part>): Int16Array => {
  const key = JSON.stringify(parts)
  const known = rendered.get(key)
  if (known !== undefined) return known
  const sounds = parts.map(soundOf)
  const sound = new Int16Array(sounds.reduce((length, each) => length + each.length, 0))
  let at = 0
  for (const each of sounds) {
    sound.set(each, at)
    at += each.length
  }
  if (rendered.size < maxRendered) rendered.set(key, sound)
  return sound
}

/** Copies the samples that exist of a frame; the rest is silent. False: none exist. */
const copy = (sound: Int16Array, from: number, out: Int16Array): boolean => {
  out.fill(0)
  out.set(sound.subarray(from, from + out.length))
  return from < sound.length
}

/** A phone in memory. `onDigit` is called for each digit that it presses. All but `echo` ignore the digits they get. */
export const make = (script: PhoneScript, onDigit: (digit: string) => void): FarEnd => {
  const heard = Frame.make(sampleRate)
  const played = script.type === "plays" ? render(script.parts) : new Int16Array(0)
  let frames = 0

  const press = ({ afterMs, digits, everyMs }: Extract<PhoneScript, { readonly type: "press" }>) => {
    const elapsed = frames * Frame.frameMs - afterMs
    if (elapsed < 0 || digits.length === 0) return
    // A round that takes longer than its interval is finished before the next.
    const round = everyMs <= 0 ? Number.POSITIVE_INFINITY : Math.max(everyMs, digits.length * digitIntervalMs)
    const inRound = elapsed % round
    const digit = inRound % digitIntervalMs < Frame.frameMs ? digits[Math.floor(inRound / digitIntervalMs)] : undefined
    if (digit !== undefined) onDigit(digit)
  }

  const pressDue = ({ presses }: Extract<PhoneScript, { readonly type: "acts" }>) => {
    const now = frames * Frame.frameMs
    for (const { atMs, digit } of presses) if (atMs >= now && atMs < now + Frame.frameMs) onDigit(digit)
  }

  /** Writes the phone's next frame; false when it says nothing. */
  const speak = (out: Int16Array): boolean => {
    switch (script.type) {
      case "echo":
        out.set(heard.samples)
        return true
      case "plays": {
        const from = frames * out.length
        if (!script.repeats) return copy(played, from, out)
        return played.length > 0 && copy(played, from % played.length, out)
      }
      case "acts":
        pressDue(script)
        return copy(script.samples, frames * out.length, out)
      case "press":
        press(script)
        out.fill(0)
        return false
      case "silence":
        out.fill(0)
        return false
    }
  }

  return {
    ...withoutPackets,
    rate: () => sampleRate,
    ready: () => true,
    say: ({ samples }) => {
      const speaks = speak(samples)
      frames++
      return speaks
    },
    hear: (frame) => heard.samples.set(frame.samples),
    press: (digit) => {
      if (script.type === "echo") onDigit(digit)
      return true
    },
    // The recording of such a phone contains its digits as tones.
    pressesTones: () => script.type === "plays",
    skip: (missed) => {
      frames += missed
    },
    close: () => undefined
  }
}
