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

/** One channel of 16 bits out of `count` samples of floating point channels: the mean of all. */
export const mono = (channels: ReadonlyArray<Float32Array>, count: number): Int16Array => {
  const samples = new Int16Array(channels.length === 0 ? 0 : count)
  for (let i = 0; i < samples.length; i++) {
    let sum = 0
    for (const channel of channels) sum += channel[i] ?? 0
    samples[i] = PcmReader.ofFloat(sum / channels.length)
  }
  return samples
}
