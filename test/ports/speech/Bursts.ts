import * as Tone from "../../../src/protocol/audio/Tone.ts"
import type { SampleRate } from "../../../src/protocol/audio/SampleRate.ts"

/** Sound and its recognizer without an engine: each burst of a tone is a word, numbered by its position. */

export interface Burst {
  readonly word: string
  /** In seconds. */
  readonly start: number
  readonly end: number
}

/** Bursts of these lengths in milliseconds, each after a pause of 400 ms; 0 is only the pause. */
export const sound = (rate: SampleRate, ...lengthsMs: ReadonlyArray<number>): Int16Array => {
  const parts = lengthsMs.flatMap((ms) => [new Int16Array((rate / 1000) * 400), Tone.sine(500, -6, ms, rate)])
  const whole = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0))
  parts.reduce((at, part) => {
    whole.set(part, at)
    return at + part.length
  }, 0)
  return whole
}

const pauseSeconds = 0.2
const least = 1_000

/** Recognizes little-endian samples in pieces. */
export const make = (rate: number) => {
  let count = 0
  let from = -1
  let last = 0
  let heard = 0
  const over = (): Burst => {
    const burst = { word: `beep${++count}`, start: from / rate, end: (last + 1) / rate }
    from = -1
    return burst
  }
  return {
    hear: (bytes: Buffer): ReadonlyArray<Burst> => {
      const bursts: Array<Burst> = []
      for (let at = 0; at + 1 < bytes.length; at += 2, heard++) {
        if (Math.abs(bytes.readInt16LE(at)) > least) {
          if (from === -1) from = heard
          last = heard
        } else if (from !== -1 && heard - last > pauseSeconds * rate) bursts.push(over())
      }
      return bursts
    },
    end: (): ReadonlyArray<Burst> => (from === -1 ? [] : [over()]),
    seconds: () => heard / rate
  }
}
