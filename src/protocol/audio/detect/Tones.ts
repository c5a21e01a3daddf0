import type { SoundFeatures, Peaks } from "./SoundFeatures.ts"

/** A single tone that sounds or has sounded. */
export interface Tone {
  readonly hz: number
  /** Its duration, to about 20 ms. */
  readonly ms: number
}

/** The tones in a frame. */
export interface Heard {
  /** The tone that sounds now, with its duration so far; null: none does. */
  readonly now: Tone | null
  /** The tone whose end is certain now; null: none. */
  readonly ended: Tone | null
  /** How long ago that tone ended. */
  readonly endedAgoMs: number
  /** How long a tone has sounded, single or double. */
  readonly soundMs: number
  /** How long no tone has sounded. */
  readonly quietMs: number
}

const frameMs = 20

/** Quieter sound is not taken for a tone. */
const leastDbfs = -45
/** The least share of the energy in one sine, or in one and its octave. */
const share = 0.85
/** A tone keeps its frequency and its level. */
const steadyHz = 8
const steadyDb = 6
/** For this many frames a tone continues through the distortion of a lost packet. */
const mostLost = 5
const [lowest, highest] = [350, 2200]

/** The widest peak of one sine, in bins squared: two sines as near as those of ring-back are wider. */
const mostSpread = 1.2

const isSingle = ({ first, firstShare, second, secondShare, spread }: Peaks): boolean =>
  spread <= mostSpread &&
  (firstShare >= share || (firstShare >= 0.6 && Math.abs(second - 2 * first) < 30 && firstShare + secondShare >= 0.9))

/** Follows single steady tones from 350 to 2200 Hz through a stream of frames of 20 ms. */
export const make = () => {
  let hz = 0
  let dbfs = 0
  let frames = 0
  let lost = 0
  let soundMs = 0
  let quietMs = 0

  const end = (): Tone | null => {
    const ended = frames === 0 ? null : { hz, ms: frames * frameMs }
    frames = 0
    lost = 0
    return ended
  }

  return (features: SoundFeatures): Heard => {
    // Faint frames need no spectrum: most of them are silence.
    const peaks = features.dbfs < leastDbfs - 6 ? null : features.peaks()
    // Noise of the street and the mains is below `lowest`.
    const isTonal = peaks !== null && peaks.first >= lowest && peaks.firstShare + peaks.secondShare >= share
    soundMs = isTonal ? soundMs + frameMs : 0
    quietMs = isTonal ? 0 : quietMs + frameMs
    const is =
      peaks !== null && isSingle(peaks) && peaks.dbfs >= leastDbfs && peaks.first >= lowest && peaks.first <= highest
    if (!is) {
      if (frames > 0) lost++
      const endedAgoMs = lost * frameMs
      return { now: null, ended: lost > mostLost ? end() : null, endedAgoMs, soundMs, quietMs }
    }
    const goesOn = frames > 0 && Math.abs(peaks.first - hz) <= steadyHz && peaks.dbfs >= dbfs - steadyDb
    const endedAgoMs = (lost + 1) * frameMs
    const ended = goesOn ? null : end()
    frames += 1 + lost
    lost = 0
    dbfs = goesOn ? Math.max(dbfs, peaks.dbfs) : peaks.dbfs
    // The window is half filled in its first frame, which gives the frequency less exactly than the next.
    hz = goesOn && frames > 2 ? hz + (peaks.first - hz) / frames : peaks.first
    return { now: { hz, ms: frames * frameMs }, ended, endedAgoMs, soundMs, quietMs }
  }
}
