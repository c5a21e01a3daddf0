import * as Ramp from "../../protocol/audio/Ramp.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import * as Tone from "../../protocol/audio/Tone.ts"
import * as Frame from "../Frame.ts"
import type { Source } from "./Source.ts"

/** The warning tone of a recording as telephone companies know it: 1,400 Hz, half a second. */
const frequency = 1400
const beepMs = 500
const dbfs = -20
export const warning = { frequency, ms: beepMs }

export interface Beeper extends Source {
  /** Sounds the tone once; without effect while it sounds. */
  readonly beep: () => void
}

/** A short tone on demand. The default is the tone that warns the parties of a leg that they are recorded. */
export const make = (of: { readonly frequency: number; readonly ms: number } = warning): Beeper => {
  let out = Frame.make(8000)
  let framesLeft = 0
  let oscillator: { readonly rate: SampleRate; readonly render: Tone.Oscillator["render"] } | null = null

  return {
    beep: () => {
      if (framesLeft === 0) framesLeft = of.ms / Frame.frameMs
    },
    next: (rate) => {
      if (framesLeft === 0) return null
      out = Frame.at(rate, out)
      const isFirst = oscillator === null
      if (oscillator?.rate !== rate)
        oscillator = { rate, ...Tone.oscillator([{ frequency: of.frequency, dbfs }], rate) }
      oscillator.render(out.samples)
      framesLeft--
      const { length } = out.samples
      if (isFirst) Ramp.fadeIn(out.samples, rate, 0, 0, length)
      if (framesLeft > 0) return out
      Ramp.fadeOut(out.samples, rate, length, 0, length)
      oscillator = null
      return out
    },
    pass: () => {
      if (framesLeft > 0) framesLeft--
      if (framesLeft === 0) oscillator = null
    },
    ready: () => framesLeft > 0,
    close: () => undefined
  }
}
