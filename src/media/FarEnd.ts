import type { SampleRate } from "../audio/SampleRate.ts"
import type { Frame } from "./Frame.ts"

/**
 * The other party of a leg, as the switch sees it: an RTP peer or a simulated phone; later a bridged leg or a room.
 *
 * All calls come from the clock of the leg, one round every 20 ms: `say`, then `hear`.
 */
export interface FarEnd {
  /** Of the frames that it says and hears; may be another one in the next round, when another codec was agreed. */
  readonly rate: () => SampleRate
  /** Whether it can be played to yet; playback waits until then. */
  readonly ready: () => boolean
  /** Writes the next 20 ms that the far end says into `out`, a frame of its rate; silence when it says nothing. */
  readonly say: (out: Frame, now: number) => void
  /** Gives it 20 ms to hear, at its rate. */
  readonly hear: (frame: Frame, now: number) => void
  /**
   * Begins a digit outside the sound; the next frames that it is given to hear are not sent while the digit lasts.
   * False when it takes no such digits: then they have to be tones.
   */
  readonly press: (digit: string, durationMs: number) => boolean
  /** The clock stood still for so many frames, which will not be made up for. */
  readonly skip: (frames: number) => void
  readonly close: (now: number) => void
}
