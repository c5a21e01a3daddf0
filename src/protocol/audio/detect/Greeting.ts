import { limits } from "./Limits.ts"

/** The far end's speech, from the first to the last, in milliseconds since the begin. */
export interface Greeting {
  readonly from: number
  readonly to: number
  /** It has more than one sentence. */
  readonly hasPause: boolean
  /** When speech began after its last long pause, as when a person asks again; null: it has no such pause. */
  readonly againFrom: number | null
}

/** The properties of a frame of 20 ms that matter for speech. */
interface Frame {
  readonly isSpeech: boolean
  /** How long a tone has sounded. */
  readonly toneMs: number
  /** Its level, measured like noise (`Features.whitened`). */
  readonly noiseDbfs: number
}

export interface Talk {
  /** Null: the far end has not spoken. */
  readonly greeting: Greeting | null
  /** The time since the last speech, ring-back, or the begin. */
  readonly silenceMs: number
  /** The noise before the greeting, and in the present pause; null: it was not measured. */
  readonly noiseBefore: number | null
  readonly noiseNow: number | null
  /** Speech from before the answer has not ended since: it may end at once. */
  readonly isTail: boolean
  /** When the greeting began that was under way at the answer; null: none was. */
  readonly carriedFrom: number | null
}

export const start: Talk = {
  greeting: null,
  silenceMs: 0,
  noiseBefore: null,
  noiseNow: null,
  isTail: false,
  carriedFrom: null
}

export const frameMs = 20

const spoken = (greeting: Greeting | null, atMs: number): Greeting => {
  const from = atMs - frameMs
  if (greeting === null) return { from, to: atMs, hasPause: false, againFrom: null }
  const pause = from - greeting.to
  return {
    from: greeting.from,
    to: atMs,
    hasPause: greeting.hasPause || pause >= limits.sentencePause,
    againFrom: pause >= limits.askedPause ? from : greeting.againFrom
  }
}

/** Takes a frame before the answer, which ends at `atMs`: a long pause ends the greeting. */
export const early = (talk: Talk, { isSpeech }: Frame, atMs: number): Talk => {
  const silenceMs = isSpeech ? 0 : talk.silenceMs + frameMs
  const isOver = silenceMs > limits.earlyPause
  return { ...talk, silenceMs, greeting: isSpeech ? spoken(talk.greeting, atMs) : isOver ? null : talk.greeting }
}

/** Takes the answer at `atMs`: earlier speech counts if it continues. */
export const answered = ({ greeting, silenceMs }: Talk, atMs: number): Talk => ({
  ...start,
  isTail: greeting !== null && greeting.to === atMs,
  carriedFrom: greeting !== null && silenceMs <= limits.carriedPause ? greeting.from - atMs : null
})

/** The mean of about 0.2 s. One loud frame counts for little, because speech begins some frames before detection. */
const follow = (mean: number | null, dbfs: number): number =>
  mean === null ? dbfs : mean + (Math.min(dbfs, mean + 6) - mean) / 10

/** Takes a frame after the answer, which ends at `atMs`. */
export const hear = (talk: Talk, { isSpeech, noiseDbfs, toneMs }: Frame, atMs: number): Talk => {
  const isTail = talk.isTail && atMs <= limits.tail
  const silenceMs = isSpeech || toneMs >= limits.tone ? 0 : talk.silenceMs + frameMs
  const greeting = isSpeech && !isTail ? spoken(talk.greeting, atMs) : talk.greeting
  const isNoise = !isSpeech && toneMs === 0
  const heard: Talk = {
    greeting,
    silenceMs,
    isTail,
    noiseBefore: isNoise && greeting === null ? follow(talk.noiseBefore, noiseDbfs) : talk.noiseBefore,
    noiseNow: !isNoise ? null : silenceMs <= limits.tone ? null : follow(talk.noiseNow, noiseDbfs),
    carriedFrom: silenceMs > limits.carriedPause ? null : talk.carriedFrom
  }
  const { carriedFrom } = heard
  return carriedFrom === null || greeting === null || atMs - greeting.from < limits.carriedBy
    ? heard
    : { ...heard, greeting: { ...greeting, from: carriedFrom }, carriedFrom: null }
}

/** Whether the pause has a noise that was not there before the greeting: that of a recording, which is not over. */
export const isRecording = ({ noiseBefore, noiseNow }: Talk): boolean =>
  noiseBefore !== null && noiseNow !== null && noiseNow >= noiseBefore + limits.recordingDb
