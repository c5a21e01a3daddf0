import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type { Frame } from "../Frame.ts"

/**
 * One of the sounds that a leg hears: a playback, digits, another leg, a room.
 *
 * Once every 20 ms, on the clock of the leg, either `next` fetches a frame or `pass` lets the time pass. A source that
 * throws ends its leg.
 */
export interface Source {
  /**
   * Returns the next 20 ms at `rate`; `null` when the source has no sound. The frame is lent until the source is called
   * again.
   *
   * Only the first `heard` samples are heard, either the whole frame or the stretch in which it is faded out. Recorded
   * sound continues from there the next time.
   */
  readonly next: (rate: SampleRate, heard: number, now: number) => Frame | null
  /** Lets 20 ms pass in which the source is not heard: live sound is lost, recorded sound waits. */
  readonly pass: (now: number) => void
  /** Whether `next` would return sound now. */
  readonly ready: () => boolean
  /** Called last: the source is not called again. */
  readonly close: () => void
}

/** The effect of a sounding source on the sources after it. */
export type Behind = "heard" | "ducked" | "silenced"
