import * as Resample from "../../../protocol/audio/Resample.ts"
import * as PhoneLine from "./PhoneLine.ts"
import * as ReadableSpeech from "./ReadableSpeech.ts"
import * as ReadableTones from "./ReadableTones.ts"

/** How many frames of 20 ms are remembered: ten minutes. */
const keptFrames = 30_000

/** Everything that a phone has heard in one call. */
interface Heard {
  /** Takes the next 20 ms, which began at `now`. */
  readonly hear: (samples: Int16Array, now: number) => void
  readonly digit: (digit: string) => void
  /** All spoken text, with single spaces. */
  readonly text: () => string
  readonly digits: () => string
  /** The last ten minutes of its sound. */
  readonly sound: () => Int16Array
  /**
   * Looks for a text after `from`, an index of `text`, and returns the index after it; null: not found. Letter case and
   * white space do not count; a RegExp is matched as it is.
   */
  readonly find: (what: string | RegExp, from: number) => number | null
}

export const make = (): Heard => {
  const reader = ReadableTones.reader(PhoneLine.rate)
  const frames: Array<Int16Array> = []
  let digits = ""
  /** Null: more was read since. */
  let known: string | null = ""

  const text = (): string => {
    known ??= ReadableSpeech.normal(
      reader
        .phrases()
        .map((phrase) => phrase.text)
        .join(" ")
    )
    return known
  }

  return {
    hear: (samples, now) => {
      if (frames.length === keptFrames) frames.shift()
      frames.push(samples.slice())
      if (reader.hear(samples, now)) known = null
    },
    digit: (digit) => void (digits += digit),
    text,
    digits: () => digits,
    sound: () => Resample.concat(frames),
    find: (what, from) => {
      const ahead = text().slice(from)
      if (what instanceof RegExp) {
        const found = new RegExp(what.source, what.flags.replaceAll(/[gy]/g, "")).exec(ahead)
        return found === null ? null : from + found.index + found[0].length
      }
      const wanted = ReadableSpeech.normal(what).toLowerCase()
      const index = ahead.toLowerCase().indexOf(wanted)
      return index === -1 ? null : from + index + wanted.length
    }
  }
}
