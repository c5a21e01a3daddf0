import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type * as Frame from "../Frame.ts"
import type { Tap, Track } from "../mix/Tap.ts"
import * as Timeline from "./Timeline.ts"

export type { Chunk } from "./Timeline.ts"

/** The parameters of a capture. Plain data. */
export interface Wanted {
  /** The tracks, each once, in the order that a chunk has them. */
  readonly tracks: ReadonlyArray<Track>
  /** The length of a chunk, a multiple of 20. */
  readonly chunkMs: number
  /** Sound of a higher rate is converted down to this one. */
  readonly mostRate: SampleRate
  /** The most chunks that may wait for their receiver; one more ends the capture as `receiver_slow`. */
  readonly mostWaiting: number
  /**
   * Warning tones that all on the leg hear: one at the beginning, and one after each `everyMs`; none while silenced.
   */
  readonly beeps: { readonly atStart: boolean; readonly everyMs: number | null }
}

/**
 * Why a capture has ended: it was stopped, its leg was closed, its tap failed or was too slow for the media thread, its
 * receiver took too few chunks, the leg has no place for another tap or does not exist, or the plane is gone.
 */
export type CaptureEnd =
  | "stopped"
  | "leg_closed"
  | "tap_dropped"
  | "receiver_slow"
  | "too_many_taps"
  | "unknown_leg"
  | "plane_stopped"

interface Options extends Wanted {
  /** Whether the leg has sound yet: the capture begins with the first round in which it has. */
  readonly ready: () => boolean
  readonly give: (chunk: Timeline.Chunk) => void
  readonly beep: () => void
  /** Called once, after the last chunk. */
  readonly ended: (reason: CaptureEnd) => void
}

export interface Capture {
  readonly tap: Tap
  /** Acknowledges chunks that the receiver has processed. */
  readonly taken: (chunks: number) => void
  /** Begins or ends the replacement of the sound by silence. */
  readonly silence: (whether: boolean) => void
  /** Gives the last chunk, then the end. The tap receives nothing more, and has to be removed. */
  readonly stop: (reason: CaptureEnd) => void
}

/** A tap that packs its sound into chunks for a receiver outside of the media thread (`Timeline`). */
export const make = ({ beep, beeps, ended, give, mostWaiting, ready, tracks, ...line }: Options): Capture => {
  let waiting = 0
  let hasStarted = false
  let isSilent = false
  let beepAt = Number.POSITIVE_INFINITY
  let isOver = false
  const timeline = Timeline.make({
    ...line,
    tracks: tracks.length,
    emit: (chunk) => {
      waiting++
      give(chunk)
    }
  })

  const starts = (at: number): boolean => {
    hasStarted = ready()
    if (hasStarted) beepAt = beeps.atStart ? at : at + (beeps.everyMs ?? Number.POSITIVE_INFINITY)
    return hasStarted
  }

  const warn = (at: number): void => {
    if (at < beepAt) return
    beepAt = at + (beeps.everyMs ?? Number.POSITIVE_INFINITY)
    if (!isSilent) beep()
  }

  const stop = (reason: CaptureEnd): void => {
    if (isOver) return
    isOver = true
    timeline.end()
    ended(reason)
  }

  return {
    tap: {
      wants: (track) => tracks.includes(track),
      hear: (track: Track, frame: Frame.Frame, at: number): void => {
        if (isOver) return
        if (!hasStarted && !starts(at)) return
        warn(at)
        timeline.hear(tracks.indexOf(track), frame, at)
        if (waiting > mostWaiting) stop("receiver_slow")
      },
      ended: (reason) => stop(reason === "closed" ? "leg_closed" : "tap_dropped")
    },
    taken: (chunks) => {
      waiting -= chunks
    },
    silence: (whether) => {
      isSilent = whether
      timeline.silenced(whether)
    },
    stop
  }
}
