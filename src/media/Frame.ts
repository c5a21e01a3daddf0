import type { SampleRate } from "../protocol/audio/SampleRate.ts"
import type { Payloads } from "./Payloads.ts"

/**
 * 20 ms of sound: linear samples of 16 bits, one channel, and their rate.
 *
 * A frame is lent only for the call that hands it over: the receiver copies the samples it keeps, and the owner writes
 * the next 20 ms into the same array.
 */
export interface Frame {
  readonly rate: SampleRate
  readonly samples: Int16Array
  /** Present when several far ends are given this frame: a payload that one has encoded serves others of its codec. */
  readonly payloads?: Payloads
}

/** Sound of any length, which may be shared and is only read. */
export type Sound = Frame

export const frameMs = 20

/** The samples in a frame. */
export const lengthAt = (rate: SampleRate): number => (rate * frameMs) / 1000

/** A frame of silence. */
export const make = (rate: SampleRate): Frame => ({ rate, samples: new Int16Array(lengthAt(rate)) })

/** Returns `frame` itself when it has this rate, else a new silent one. */
export const at = (rate: SampleRate, frame: Frame): Frame => (frame.rate === rate ? frame : make(rate))
