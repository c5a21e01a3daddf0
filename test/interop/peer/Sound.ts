import * as Goertzel from "../../support/Goertzel.ts"
import type * as PcmReader from "../../../src/protocol/audio/file/PcmReader.ts"

export interface Loudest {
  /** The level of the tone in the loudest stretch of half a second, in dBFS. */
  readonly tone: number
  /** The level of the whole sound in that stretch, in dBFS. */
  readonly total: number
}

/** The half second of these recordings in which this tone is loudest. */
export const loudest = (recordings: ReadonlyArray<PcmReader.Sound>, frequency: number): Loudest => {
  let best: Loudest = { tone: -Infinity, total: -Infinity }
  for (const { sampleRate, samples } of recordings) {
    const length = sampleRate / 2
    for (let at = 0; at + length <= samples.length; at += length / 4) {
      const stretch = samples.subarray(at, at + length)
      const tone = Goertzel.level(stretch, frequency, sampleRate)
      if (tone > best.tone) best = { tone, total: Goertzel.totalLevel(stretch) }
    }
  }
  return best
}
