import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type { Frame } from "../Frame.ts"

/**
 * One of the sounds that a leg hears: a playback, digits, another leg, a room.
 *
 * Once every 20 ms, on the clock of the leg, it is either asked for its `next` frame, or told to let the time `pass`. A
 * source that throws ends its leg.
 */
export interface Source {
  /**
   * The next 20 ms at `rate`; `null` when it has nothing to say. The frame is lent until the source is called again.
   *
   * Only the first `heard` samples will be heard, all of them or those in which it is faded out: sound that waits goes
   * on from there the next time.
   */
  readonly next: (rate: SampleRate, heard: number, now: number) => Frame | null
  /** 20 ms in which it is not heard: what is live is gone, what is recorded waits. */
  readonly pass: (now: number) => void
  /** Whether it will have something to say when it is asked now. */
  readonly ready: () => boolean
  /** Called last: the source is not called again. */
  readonly close: () => void
}

/** What becomes of the sources that stand behind one while it sounds. */
export type Behind = "heard" | "ducked" | "silenced"
