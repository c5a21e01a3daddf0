import * as Ramp from "../../../protocol/audio/Ramp.ts"
import type { SampleRate } from "../../../protocol/audio/SampleRate.ts"
import * as Frame from "../../Frame.ts"
import * as Loss from "../Loss.ts"
import type { SoundQueue } from "./SoundQueue.ts"

/**
 * When the sound of a stream's server is played, guide/streams.md#what-is-heard-when.
 *
 * Playout begins when `depth` of sound is queued, a mark follows it, or its first byte has waited for that time; then
 * it is taken frame by frame. When the queue runs out, the rest is played, fades out in 4 ms, and the next sound begins
 * like the first. Nothing is repeated or inserted. Cleared sound fades out as fast, and sound that begins directly
 * after it is faded in meanwhile. A sender whose queue runs out in the middle of speech gets more depth, and one whose
 * clock runs fast loses a quiet frame now and then.
 *
 * Marks are positions in the sound. Each comes back once, in order: with the frame that has the last sample before it,
 * at once if nothing waits, or cleared.
 *
 * Shapes: positions in samples at `rate`, counted from the beginning. Times are milliseconds of any steady clock.
 */
export interface Mark {
  readonly name: string
  /** Some of the sound between the mark before and this one was not played. */
  readonly isCleared: boolean
}

export const limits = {
  /** The most sound that may wait. */
  soundMs: 10 * 60_000,
  /** The most marks that may wait. */
  marks: 1000
}

/** The depth: at first and after a calm, its increase for an underrun, and its maximum. */
const leastDepthMs = 60
const deeperMs = 40
const mostDepthMs = 200
/** After this long without an underrun the depth is the least again. */
const calmMs = 30_000
/** Sound that resumes within this time was interrupted, not ended. */
const sameSpeechMs = 300
const dyingMs = 4

/** A queue that stayed below `pacedBelowMs` for `pacedAfterMs` belongs to a sender that sends in real time. */
const pacedBelowMs = 400
const pacedAfterMs = 30_000
/** How far the queue of such a sender may exceed the depth; beyond that, one quiet frame a second is dropped. */
const aheadMs = 80
const trimEveryMs = 1000
/** -50 dBFS. */
const quiet = 32_768 * 10 ** (-50 / 20)

interface Waiting extends Mark {
  readonly at: number
}

export interface Figures {
  /** How often sound broke off in the middle of speech. */
  underruns: number
  /** Samples for which there was no room. */
  dropped: number
  /** Samples that were dropped because the sender runs fast. */
  trimmed: number
}

export const make = (
  queue: SoundQueue,
  rate: SampleRate,
  startedAt: number,
  /** Whether this many more octets may be kept; called before they are. */
  hasCapacity: (octets: number) => boolean = () => true
) => {
  const samplesOf = (ms: number): number => (rate * ms) / 1000
  const frameLength = Frame.lengthAt(rate)
  const figures: Figures = { underruns: 0, dropped: 0, trimmed: 0 }
  let out = Frame.make(rate)
  /** The samples that were ever queued, and those of them that have left the queue. */
  let kept = 0
  let taken = 0
  let marks: ReadonlyArray<Waiting> = []
  const loss = Loss.make()
  let isPlaying = false
  /** When the first sound that waits for playout came; null: none waits. */
  let firstAt: number | null = null
  let depthMs = leastDepthMs
  let underrunAt = startedAt
  /** When the queue ran out in the middle of sound; null: it did not, or the sound ended quietly or at a mark. */
  let brokeOffAt: number | null = null
  /** The last sample that was played; 0 once its fade-out has begun. */
  let last = 0
  /**
   * The sound that fades out after the last sample: that sample repeated, or the sound that a clear cut off; how much
   * of it has faded, and whether sound that follows directly is to be joined to it.
   */
  const tail = new Int16Array(samplesOf(dyingMs))
  let died = tail.length
  let isCut = false
  /** Whether the last frame was not silent, and the position of the last mark that came back. */
  let wasLoud = false
  let markedAt = 0
  let deepAt = startedAt
  let trimmedAt = startedAt

  const isQuiet = (samples: Int16Array, count: number): boolean => {
    let energy = 0
    for (let i = 0; i < count; i++) energy += (samples[i] ?? 0) ** 2
    return energy < count * quiet ** 2
  }

  /** Takes out the marks whose sound has been played. */
  const passed = (): ReadonlyArray<Mark> => {
    if (marks[0] === undefined || marks[0].at > taken) return []
    const due = marks.filter(({ at }) => at <= taken)
    marks = marks.slice(due.length)
    markedAt = due.at(-1)?.at ?? 0
    return due
  }

  const mayStart = (now: number): boolean =>
    queue.length() >= samplesOf(depthMs) ||
    marks.length > 0 ||
    (firstAt !== null && now - firstAt >= depthMs && queue.length() > 0)

  const dying = (): number => Math.round((tail[died] ?? 0) * (1 - ++died / tail.length))

  /** Returns the next part of the fade-out; null: it is complete. */
  const dieAway = (from: number): Frame.Frame | null => {
    isCut = false
    if (died >= tail.length) return null
    for (let i = from; i < frameLength && died < tail.length; i++) out.samples[i] = dying()
    return out
  }

  /** Joins the beginning of `count` samples to the sound that was cut off. */
  const join = (count: number): void => {
    isCut = false
    Ramp.fadeIn(out.samples, rate, 0, 0, count)
    for (let i = 0; i < count && died < tail.length; i++) out.samples[i] = (out.samples[i] ?? 0) + dying()
  }

  /** Drops a quiet frame when a sender that sends in real time has run ahead. */
  const trim = (now: number): void => {
    if (now - deepAt < pacedAfterMs || now - trimmedAt < trimEveryMs) return
    if (queue.length() < samplesOf(depthMs + aheadMs) + frameLength || !isQuiet(out.samples, frameLength)) return
    trimmedAt = now
    figures.trimmed += frameLength
    taken += queue.take(out.samples, 0, frameLength)
  }

  return {
    figures,
    /** The sound that waits. */
    waitingMs: (): number => (queue.length() * 1000) / rate,
    depthMs: (): number => depthMs,
    /** Queues a payload; false: there is no room. */
    push: (payload: Uint8Array, now: number): boolean => {
      const samples = queue.samplesIn(payload)
      if (queue.length() + samples > samplesOf(limits.soundMs) || !hasCapacity(payload.length)) {
        figures.dropped += samples
        loss.dropped()
        return false
      }
      kept += queue.push(payload)
      loss.kept()
      if (brokeOffAt !== null && now - brokeOffAt <= sameSpeechMs) {
        figures.underruns++
        underrunAt = now
        depthMs = Math.min(mostDepthMs, depthMs + deeperMs)
      }
      brokeOffAt = null
      if (!isPlaying) firstAt ??= now
      return true
    },
    /** Notes that sound is missing at this position. */
    lost: loss.dropped,
    /** Whether as many marks wait as may. */
    isFull: (): boolean => marks.length >= limits.marks,
    /** Adds a mark; returns the marks that come back at once. `isLossy`: sound before it was dropped earlier. */
    mark: (name: string, isLossy = false): ReadonlyArray<Mark> => {
      const isCleared = loss.marked() || isLossy
      if (marks.length >= limits.marks) return [{ name, isCleared: true }]
      if (queue.length() === 0 && marks.length === 0) return [{ name, isCleared }]
      marks = [...marks, { name, isCleared, at: kept }]
      return []
    },
    /** Drops all waiting sound except the fade-out; returns its marks. */
    clear: (): ReadonlyArray<Mark> => {
      const gone = marks
      if (isPlaying) {
        isCut = true
        const more = queue.take(tail, 0, tail.length)
        tail.fill(tail[more - 1] ?? last, more)
        died = 0
        last = 0
      }
      marks = []
      queue.clear()
      taken = kept
      isPlaying = false
      loss.cleared()
      firstAt = null
      brokeOffAt = null
      return gone.map(({ name }) => ({ name, isCleared: true }))
    },
    /** Lets the time of a frame pass unheard, which ends the fade-out. */
    rest: (): void => {
      isCut = false
      last = 0
      died = tail.length
    },
    /** Whether the next frame will have sound. */
    isReady: (now: number): boolean => (isPlaying ? queue.length() > 0 : mayStart(now) || died < tail.length),
    /**
     * Returns the next 20 ms, of which `heardMs` will be heard; the rest waits. `frame` is null when nothing sounds,
     * and lent until the next call. `marks` come back now.
     */
    next: (
      now: number,
      heardMs: number = Frame.frameMs
    ): { readonly frame: Frame.Frame | null; readonly marks: ReadonlyArray<Mark> } => {
      if (queue.length() >= samplesOf(pacedBelowMs)) deepAt = now
      if (now - underrunAt >= calmMs) depthMs = leastDepthMs
      out.samples.fill(0)
      if (!isPlaying && !mayStart(now)) return { frame: dieAway(0), marks: [] }
      isPlaying = true
      firstAt = null
      const count = queue.take(out.samples, 0, samplesOf(heardMs))
      taken += count
      if (isCut) join(count)
      const isOut = count < samplesOf(heardMs)
      if (!isOut && heardMs === Frame.frameMs) trim(now)
      const due = passed()
      if (count > 0) {
        last = out.samples[count - 1] ?? 0
        died = tail.length
      }
      if (count >= frameLength / 2) wasLoud = !isQuiet(out.samples, count)
      if (!isOut) return { frame: out, marks: due }
      isPlaying = false
      if (last !== 0) {
        tail.fill(last)
        died = 0
        last = 0
      }
      if (wasLoud && markedAt !== taken) brokeOffAt = now
      return { frame: dieAway(count) ?? (count > 0 ? out : null), marks: due }
    }
  }
}
