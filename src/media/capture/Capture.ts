import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type * as Frame from "../Frame.ts"
import type { Tap, Track } from "../mix/Tap.ts"
import * as Timeline from "./Timeline.ts"

export type { Chunk } from "./Timeline.ts"

/** What is to be captured of a leg. Plain data. */
export interface Wanted {
  /** Each once. A chunk has them in this order. */
  readonly tracks: ReadonlyArray<Track>
  /** Length of a chunk, a multiple of 20. */
  readonly chunkMs: number
  /** Sound of a higher rate is brought down to this one. */
  readonly mostRate: SampleRate
  /** So many chunks may wait for their receiver; with one more the capture ends as `receiver_slow`. */
  readonly mostWaiting: number
  /** Warning tones that all on the leg hear: one at the beginning, and one after each `everyMs`; none while silenced. */
  readonly beeps: { readonly atBegin: boolean; readonly everyMs: number | null }
}

/**
 * Why a capture hears nothing more: it was asked to stop, its leg is closed, its tap failed or was too slow for the
 * media thread, its receiver took too few chunks, the leg has no place for another tap or is not there, or the plane is
 * gone.
 */
export type CaptureEnd =
  | "stopped"
  | "leg_closed"
  | "tap_dropped"
  | "receiver_slow"
  | "too_many_taps"
  | "unknown_leg"
  | "plane_stopped"

export interface Options extends Wanted {
  /** Whether the leg has sound yet: the capture begins with the first round in which it has. */
  readonly ready: () => boolean
  readonly give: (chunk: Timeline.Chunk) => void
  readonly beep: () => void
  /** Called once, behind the last chunk. */
  readonly ended: (reason: CaptureEnd) => void
}

export interface Capture {
  readonly tap: Tap
  /** The receiver is through with so many chunks. */
  readonly taken: (chunks: number) => void
  /** From now on, or no longer, the sound is silence. */
  readonly silence: (whether: boolean) => void
  /** The last chunk, then the end. The tap hears nothing any more, and has to be taken off. */
  readonly stop: (reason: CaptureEnd) => void
}

/** A tap that packs what it hears into chunks for a receiver outside of the media thread (`Timeline`). */
export const make = ({ beep, beeps, ended, give, mostWaiting, ready, tracks, ...line }: Options): Capture => {
  let waiting = 0
  let hasBegun = false
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

  const begins = (at: number): boolean => {
    hasBegun = ready()
    if (hasBegun) beepAt = beeps.atBegin ? at : at + (beeps.everyMs ?? Number.POSITIVE_INFINITY)
    return hasBegun
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
        if (!hasBegun && !begins(at)) return
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
