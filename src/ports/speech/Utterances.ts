import type { SampleRate } from "../../protocol/audio/SampleRate.ts"

/** Sound in which a person speaks, with some of the sound before and after. */
export interface Utterance {
  /** The position of its first sample in the whole sound. */
  readonly startMs: number
  readonly samples: Int16Array
}

const frameMs = 20

/** The longest utterance. A longer one is cut here and continues in the next. */
export const mostMs = 15_000
/** This much sound before the first voice belongs to the utterance. */
export const leadMs = 400
/** The detector should report a voice for this long after its end; that much sound belongs to the utterance. */
export const tailMs = 600

/**
 * Cuts a stream of sound into utterances, for engines that take them one by one. `hears` decides for each 20 ms whether
 * a person speaks. It may need 100 ms to notice speech, and should report it for `tailMs` after its end.
 */
export const make = (rate: SampleRate, hears: (samples: Int16Array, rate: SampleRate) => boolean) => {
  const frameLength = (rate / 1000) * frameMs
  const most = (rate / 1000) * mostMs
  const lead = (rate / 1000) * leadMs
  /** Sound that has been heard and not handed out yet, from `start` on. */
  const kept = new Int16Array(most)
  let length = 0
  let start = 0
  let isSpeech = false
  const partial = new Int16Array(frameLength)
  let filled = 0

  const forget = (count: number): void => {
    kept.copyWithin(0, count, length)
    length -= count
    start += count
  }

  const cut = (): Utterance => {
    const utterance = { startMs: (start * 1000) / rate, samples: kept.slice(0, length) }
    forget(length)
    return utterance
  }

  const frame = (samples: Int16Array): Utterance | null => {
    const wasSpeech = isSpeech
    isSpeech = hears(samples, rate)
    kept.set(samples, length)
    length += samples.length
    if (wasSpeech && (!isSpeech || length + frameLength > most)) return cut()
    if (!isSpeech && length > lead) forget(length - lead)
    return null
  }

  return {
    /** Returns the utterances that end within these samples. */
    hear: (samples: Int16Array): ReadonlyArray<Utterance> => {
      const over: Array<Utterance> = []
      for (let at = 0; at < samples.length;) {
        const part = samples.subarray(at, at + frameLength - filled)
        partial.set(part, filled)
        filled += part.length
        at += part.length
        if (filled < frameLength) continue
        filled = 0
        const utterance = frame(partial)
        if (utterance !== null) over.push(utterance)
      }
      return over
    },
    /** Returns the utterance that the end of the sound cuts off; null when there is no speech. */
    end: (): Utterance | null => (isSpeech && length > 0 ? cut() : null)
  }
}
