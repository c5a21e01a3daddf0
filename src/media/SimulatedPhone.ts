import * as Tone from "../audio/Tone.ts"
import type { FarEnd } from "./FarEnd.ts"
import * as Frame from "./Frame.ts"

/**
 * The script of a simulated phone, from its answer on.
 *
 * `echo` says what it hears, 20 ms later, and presses the digits that are pressed to it. `voicemail` speaks a greeting
 * (tones in the rhythm of speech), beeps at 1 kHz for half a second, then is silent. `press` dials `digits` after
 * `afterMs` and again every `everyMs` (0: once).
 */
export type PhoneScript =
  | { readonly type: "echo" }
  | { readonly type: "silence" }
  | { readonly type: "voicemail" }
  | { readonly type: "press"; readonly digits: string; readonly afterMs: number; readonly everyMs: number }

/** Length of the greeting of a `voicemail`; its beep follows at once. */
export const greetingMs = 3000
export const beepMs = 500
const beepFrequency = 1000
/** Between the beginnings of two digits that a phone presses. */
const digitIntervalMs = 200

/** The rate of every simulated phone: as wide as a call can be without a filter between two. */
const sampleRate = 16_000
const syllableMs = 250
/** A voice of 120 Hz with three formants, roughly. */
const voice: ReadonlyArray<Tone.Component> = [
  { frequency: 120, dbfs: -26 },
  { frequency: 240, dbfs: -22 },
  { frequency: 720, dbfs: -20 },
  { frequency: 1080, dbfs: -24 },
  { frequency: 2400, dbfs: -32 }
]

/** The greeting: twelve syllables, each rising and falling, the last quarter of each a pause. */
const greeting = (): Int16Array => {
  const samples = Tone.tone(voice, greetingMs, sampleRate)
  const length = (syllableMs * sampleRate) / 1000
  return samples.map((sample, i) => sample * Math.max(0, Math.sin(((i % length) / length) * (4 / 3) * Math.PI)))
}

let voicemailSound: Int16Array | null = null

const voicemail = (): Int16Array => {
  if (voicemailSound !== null) return voicemailSound
  const beep = Tone.sine(beepFrequency, -10, beepMs, sampleRate)
  const spoken = greeting()
  const sound = new Int16Array(spoken.length + beep.length)
  sound.set(spoken)
  sound.set(beep, spoken.length)
  voicemailSound = sound
  return sound
}

/** A phone in memory. `onDigit` is called for each digit it presses; all but an echo ignore digits pressed to them. */
export const make = (script: PhoneScript, onDigit: (digit: string) => void): FarEnd => {
  const heard = Frame.make(sampleRate)
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

  /** Writes what the phone says; false when it says nothing. */
  const speak = (out: Int16Array): boolean => {
    switch (script.type) {
      case "echo":
        out.set(heard.samples)
        return true
      case "voicemail": {
        const sound = voicemail()
        const start = frames * out.length
        out.fill(0)
        out.set(sound.subarray(start, start + out.length))
        return start < sound.length
      }
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
    hasPackets: false,
    overhear: () => undefined,
    packetFormat: () => null,
    skip: (missed) => {
      frames += missed
    },
    close: () => undefined
  }
}
