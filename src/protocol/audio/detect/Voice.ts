import type { SampleRate } from "../SampleRate.ts"
import * as SoundFeatures from "./SoundFeatures.ts"

/** When speech begins and ends. Milliseconds, counted in frames of 20. */
export interface Options {
  /** How much sound like a voice begins speech. Below 100 a tone or noise may begin it too. */
  readonly onsetMs?: number
  /** How long a time without any ends speech. */
  readonly hangoverMs?: number
  /**
   * Sound that is quieter than the loudest speech so far by more than this is not from the same speaker, but from
   * others around; absent: all speech counts.
   */
  readonly rangeDb?: number
  /** The least level that begins speech; it continues down to `leastDbfs`. */
  readonly startDbfs?: number
}

/** The usual values: a syllable begins speech, and the pauses between syllables do not end it. */
export const defaults = { onsetMs: 100, hangoverMs: 200 } as const

const frameMs = 20

/** Quieter sound is not taken for speech. */
export const leastDbfs = -46
/** How much louder than the surrounding noise speech has to be. */
export const aboveNoiseDb = 9

/** The noise is the level that a tenth of the last 1.5 s is below. */
const noiseFrames = 75
const noiseShare = 0.1

/**
 * A tone has at least this share of the energy in one or two sines, and one of them moves by no more than `steadyHz`
 * from one frame to the next. Two harmonics of a low voice, or the first of a high one, may hold as much; but a voice
 * moves.
 */
const tonalShare = 0.97
const steadyHz = 2
/** Noise has no dominant part in its spectrum. A hiss of speech is similar, but does not last. */
const flatShare = 0.45
/** How many dB a frame the level of the loudest speech is forgotten: 3 dB a second. */
const forgotten = 0.06
/** For how many frames speech that has begun may sound like a tone or noise: a held vowel, a hiss. */
const unlikeFrames = 12

/** Finds the level that a share of the last frames is below, in whole dB. */
const floor = () => {
  const ring = new Int16Array(noiseFrames)
  const counts = new Uint16Array(-SoundFeatures.silence + 1)
  let heard = 0
  return (dbfs: number): number => {
    const level = Math.max(0, Math.min(-SoundFeatures.silence, Math.round(dbfs) - SoundFeatures.silence))
    const at = heard % noiseFrames
    if (heard >= noiseFrames) counts[ring[at] ?? 0] = (counts[ring[at] ?? 0] ?? 0) - 1
    ring[at] = level
    counts[level] = (counts[level] ?? 0) + 1
    heard++
    let left = Math.min(heard, noiseFrames) * noiseShare
    for (let each = 0; each < counts.length; each++) {
      left -= counts[each] ?? 0
      if (left < 0) return each + SoundFeatures.silence
    }
    return 0
  }
}

/** Decides frame by frame whether the last 64 ms are a tone or noise rather than a voice; null: silence. */
const unlikeness = () => {
  let before: SoundFeatures.Peaks | null = null
  return (peaks: SoundFeatures.Peaks | null): boolean => {
    const was = before?.first ?? Number.NaN
    before = peaks
    if (peaks === null) return false
    const { first, firstShare, flatness, second, secondShare } = peaks
    // Either of two equally strong sines may be the first.
    const isSteady = Math.abs(first - was) <= steadyHz || Math.abs(second - was) <= steadyHz
    return (isSteady && firstShare + secondShare >= tonalShare) || flatness >= flatShare
  }
}

export type Judge = ReturnType<typeof judge>

/**
 * Decides from the features of each frame whether it is speech. A frame counts when it is above `leastDbfs`, exceeds
 * the noise by `aboveNoiseDb`, and is neither tone nor noise. Speech begins with `onsetMs` of such frames, and ends
 * `hangoverMs` after the last.
 */
export const judge = ({
  startDbfs = leastDbfs,
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
  let loudest: number = SoundFeatures.silence

  const isLoud = ({ dbfs, whitened }: SoundFeatures.SoundFeatures): boolean => {
    const around = noise(whitened)
    loudest -= forgotten
    return dbfs >= (isSpeech ? leastDbfs : startDbfs) && dbfs >= loudest - rangeDb && whitened >= around + aboveNoiseDb
  }
  const isVoice = (features: SoundFeatures.SoundFeatures): boolean => {
    if (!isLoud(features)) {
      isUnlike(null)
      return false
    }
    unlike = isUnlike(features.peaks()) ? unlike + 1 : 0
    return unlike === 0 || (isSpeech && unlike <= unlikeFrames)
  }

  return {
    isSpeech: (features: SoundFeatures.SoundFeatures): boolean => {
      const voice = isVoice(features)
      if (voice && isSpeech) loudest = Math.max(loudest, features.dbfs)
      quiet = voice ? 0 : quiet + 1
      run = voice ? run + 1 : Math.max(0, run - 1)
      if (isSpeech) isSpeech = quiet < hangover
      else if (run >= onset) isSpeech = true
      if (!isSpeech && quiet >= hangover) run = 0
      return isSpeech
    },
    /** Forgets earlier speech and its loudest level, because another speaker may follow. The noise stays the same. */
    restart: (): void => {
      isSpeech = false
      run = 0
      loudest = SoundFeatures.silence
    }
  }
}

export type Voice = ReturnType<typeof make>

/**
 * Voice activity detection: decides for each frame of 20 ms whether it is speech. Pure; frames may change their rate.
 *
 * Ring-back, digits, other steady tones and steady noise down from -36 dBFS are not taken for speech. Music and a crowd
 * may be.
 */
export const make = (options: Options = {}) => {
  const features = SoundFeatures.make()
  const judged = judge(options)
  return {
    /** Takes 20 ms of `samples` at `rate`, which are only read. */
    hear: (samples: Int16Array, rate: SampleRate): boolean => judged.isSpeech(features.next(samples, rate))
  }
}
