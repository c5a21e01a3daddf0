import type { SampleRate } from "../../protocol/audio/SampleRate.ts"

/** Sound in which somebody speaks, with some of what is before and behind. */
export interface Utterance {
  /** Of its first sample, in the whole sound. */
  readonly startMs: number
  readonly samples: Int16Array
}

const frameMs = 20

/** An utterance is cut here at the latest, and goes on in the next. */
export const mostMs = 15_000
/** So much sound before the first that is a voice belongs to it. */
export const leadMs = 400
/** What tells that a voice is heard should hold on for so long behind it: that much belongs to the utterance. */
export const tailMs = 600

/**
 * Cuts a stream of sound into utterances, for engines that want them one by one. `hears` tells of 20 ms after 20 ms
 * whether somebody speaks: it may take 100 ms to say so, and should go on for `tailMs` behind the last that was said.
 */
export const make = (rate: SampleRate, hears: (samples: Int16Array, rate: SampleRate) => boolean) => {
  const frameLength = (rate / 1000) * frameMs
  const most = (rate / 1000) * mostMs
  const lead = (rate / 1000) * leadMs
  /** What has been heard and not handed out, from `start` on. */
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
    /** Utterances that are over with these samples. */
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
    /** What is being said when the sound ends; null: nothing. */
    end: (): Utterance | null => (isSpeech && length > 0 ? cut() : null)
  }
}
