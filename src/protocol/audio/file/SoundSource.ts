import * as PcmReader from "./PcmReader.ts"

/** The sound of a file that is decoded a little at a time, at its own rate. */
export interface SoundSource {
  /** Returns the next sound, which may be none yet; null: the end. Throws the errors of the codec. */
  readonly next: () => PcmReader.Sound | null
  /** Frees the memory; called once, as the last call. */
  readonly free: () => void
}

/** How many samples of an uncompressed file are read at once. */
const stretchSamples = 4096

export const ofReader = ({ length, read, sampleRate }: PcmReader.PcmReader): SoundSource => {
  let at = 0
  return {
    next: () => {
      if (at >= length) return null
      const samples = read(at, stretchSamples)
      at += samples.length
      return { sampleRate, samples }
    },
    free: () => undefined
  }
}

/** One channel of 16 bits out of `count` samples of floating point channels: the mean of the first two. */
export const mono = ([left, right]: ReadonlyArray<Float32Array>, count: number): Int16Array => {
  const samples = new Int16Array(left === undefined ? 0 : count)
  for (let i = 0; i < samples.length; i++) {
    const first = left?.[i] ?? 0
    samples[i] = PcmReader.ofFloat((first + (right?.[i] ?? first)) / 2)
  }
  return samples
}
