import type { SampleRate } from "../protocol/audio/SampleRate.ts"
import type { Payloads } from "./Payloads.ts"

/**
 * 20 ms of sound: linear samples of 16 bits, one channel, and their rate.
 *
 * A frame is only lent for the call it is handed over in: the receiver copies what it keeps, and the owner writes the
 * next 20 ms into the same samples.
 */
export interface Frame {
  readonly rate: SampleRate
  readonly samples: Int16Array
  /** Several far ends are given this frame: what one has encoded, others of its codec send too. */
  readonly payloads?: Payloads
}

/** Sound of any length, which may be shared and is only read. */
export type Sound = Frame

export const frameMs = 20

/** Samples in a frame. */
export const lengthAt = (rate: SampleRate): number => (rate * frameMs) / 1000

/** A frame of silence. */
export const make = (rate: SampleRate): Frame => ({ rate, samples: new Int16Array(lengthAt(rate)) })

/** `frame` itself when it has this rate, else another one, silent. */
export const at = (rate: SampleRate, frame: Frame): Frame => (frame.rate === rate ? frame : make(rate))
