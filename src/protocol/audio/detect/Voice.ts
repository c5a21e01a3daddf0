import type { SampleRate } from "../SampleRate.ts"
import * as Features from "./Features.ts"

/** When somebody speaks, and when no longer. Milliseconds, counted in frames of 20. */
export interface Options {
  /** So much sound like a voice begins speech. Below 100 a tone or noise may begin it too. */
  readonly onsetMs?: number
  /** So long without any, speech is over. */
  readonly hangoverMs?: number
  /**
   * What is so much quieter than the loudest speech so far is not said by the same speaker, but by others around; absent:
   * all that speak count.
   */
  readonly rangeDb?: number
  /** Speech does not begin with what is quieter; it goes on down to `leastDbfs`. */
  readonly beginDbfs?: number
}

/** What suits most: a syllable begins speech, and the pauses between syllables do not end it. */
export const defaults = { onsetMs: 100, hangoverMs: 200 } as const

const frameMs = 20

/** What is quieter is no speech. */
export const leastDbfs = -46
/** Speech is so much louder than the noise around it. */
export const aboveNoiseDb = 9

/** The noise: what a tenth of the last 1.5 s lies below. */
const noiseFrames = 75
const noiseShare = 0.1

/**
 * Tones: so much of the energy is in one or two sines, and one of them moves by no more from one frame to the next. Two
 * harmonics of a low voice, or the first of a high one, may hold as much; but a voice moves.
 */
const tonalShare = 0.97
const steadyHz = 2
/** Noise: no part of the spectrum stands out. A hiss of speech is like that, too, but does not last. */
const flatShare = 0.45
/** The loudest speech is forgotten by so many dB a frame: 3 dB a second. */
const forgotten = 0.06
/** Speech that has begun may sound like a tone or noise for so long: a held vowel, a hiss. */
const unlikeFrames = 12

/** The level that a share of the last frames lies below, in whole dB. */
const floor = () => {
  const ring = new Int16Array(noiseFrames)
  const counts = new Uint16Array(-Features.silence + 1)
  let heard = 0
  return (dbfs: number): number => {
    const level = Math.max(0, Math.min(-Features.silence, Math.round(dbfs) - Features.silence))
    const at = heard % noiseFrames
    if (heard >= noiseFrames) counts[ring[at] ?? 0] = (counts[ring[at] ?? 0] ?? 0) - 1
    ring[at] = level
    counts[level] = (counts[level] ?? 0) + 1
    heard++
    let left = Math.min(heard, noiseFrames) * noiseShare
    for (let each = 0; each < counts.length; each++) {
      left -= counts[each] ?? 0
      if (left < 0) return each + Features.silence
    }
    return 0
  }
}

/** Tells frame by frame whether the last 64 ms are a tone or noise rather than a voice; null: nothing is heard. */
const unlikeness = () => {
  let before: Features.Peaks | null = null
  return (peaks: Features.Peaks | null): boolean => {
    const was = before?.first ?? Number.NaN
    before = peaks
    if (peaks === null) return false
    const { first, firstShare, flatness, second, secondShare } = peaks
    // Of two sines that are equally strong, now the one and now the other is the first.
    const isSteady = Math.abs(first - was) <= steadyHz || Math.abs(second - was) <= steadyHz
    return (isSteady && firstShare + secondShare >= tonalShare) || flatness >= flatShare
  }
}

export type Judge = ReturnType<typeof judge>

/**
 * Tells from the features of each frame whether somebody speaks. A frame counts when it is above `leastDbfs`, stands
 * out of the noise by `aboveNoiseDb`, and is neither tone nor noise. Speech begins with `onsetMs` of such frames, and is
 * over `hangoverMs` behind the last.
 */
export const judge = ({
  beginDbfs = leastDbfs,
  hangoverMs = defaults.hangoverMs,
  onsetMs = defaults.onsetMs,
  rangeDb = Number.POSITIVE_INFINITY
}: Options = {}) => {
  const onset = Math.max(1, Math.round(onsetMs / frameMs))
  const hangover = Math.max(1, Math.round(hangoverMs / frameMs))
  const noise = floor()
  const isUnlike = unlikeness()
  let isSpeech = false
  let unlike = 0
  let run = 0
  let quiet = 0
  let loudest: number = Features.silence

  const isLoud = ({ dbfs, whitened }: Features.Features): boolean => {
    const around = noise(whitened)
    loudest -= forgotten
    return dbfs >= (isSpeech ? leastDbfs : beginDbfs) && dbfs >= loudest - rangeDb && whitened >= around + aboveNoiseDb
  }
  const isVoice = (features: Features.Features): boolean => {
    if (!isLoud(features)) {
      isUnlike(null)
      return false
    }
    unlike = isUnlike(features.peaks()) ? unlike + 1 : 0
    return unlike === 0 || (isSpeech && unlike <= unlikeFrames)
  }

  return {
    isSpeech: (features: Features.Features): boolean => {
      const voice = isVoice(features)
      if (voice && isSpeech) loudest = Math.max(loudest, features.dbfs)
      quiet = voice ? 0 : quiet + 1
      run = voice ? run + 1 : Math.max(0, run - 1)
      if (isSpeech) isSpeech = quiet < hangover
      else if (run >= onset) isSpeech = true
      if (!isSpeech && quiet >= hangover) run = 0
      return isSpeech
    },
    /** Somebody else may speak from here on: what was said before is over, and nobody was loud. The noise is the same. */
    restart: (): void => {
      isSpeech = false
      run = 0
      loudest = Features.silence
    }
  }
}

export type Voice = ReturnType<typeof make>

/**
 * Voice activity: tells of each frame of 20 ms whether somebody speaks. Pure; frames may change their rate.
 *
 * Ring-back, digits, other steady tones and steady noise down from -36 dBFS are no speech. Music and a crowd may be.
 */
export const make = (options: Options = {}) => {
  const features = Features.make()
  const judged = judge(options)
  return {
    /** `samples`: 20 ms at `rate`, which are only read. */
    hear: (samples: Int16Array, rate: SampleRate): boolean => judged.isSpeech(features.next(samples, rate))
  }
}
