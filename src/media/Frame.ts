/**
 * 20 ms of sound: 160 linear samples of 16 bits at 8 kHz, one channel.
 *
 * What is handed over as a frame is only lent for the call: who keeps it copies it.
 */
export type Frame = Int16Array

export const sampleRate = 8000
export const frameMs = 20
export const frameSamples = (sampleRate * frameMs) / 1000

/** A frame of silence. */
export const make = (): Frame => new Int16Array(frameSamples)
