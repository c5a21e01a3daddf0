/**
 * Level of one frequency in `samples`, in dBFS: 0 for a sine of full scale, `-Infinity` for digital silence.
 *
 * Goertzel's recurrence over a rectangular window is exact for whole periods. A block of N samples distinguishes
 * frequencies that are more than `sampleRate / N` from each other.
 */
export const level = (samples: Int16Array, frequency: number, sampleRate: number): number => {
  const omega = (2 * Math.PI * frequency) / sampleRate
  const coefficient = 2 * Math.cos(omega)
  let previous = 0
  let beforeThat = 0
  for (const sample of samples) {
    const now = sample + coefficient * previous - beforeThat
    beforeThat = previous
    previous = now
  }
  const power = previous * previous + beforeThat * beforeThat - coefficient * previous * beforeThat
  return samples.length === 0
    ? Number.NEGATIVE_INFINITY
    : 20 * Math.log10((2 * Math.sqrt(Math.max(0, power))) / samples.length / 32_768)
}

/** Level of everything in `samples`, in dBFS relative to the power of a sine of full scale. */
export const totalLevel = (samples: Int16Array): number => {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  return samples.length === 0 ? Number.NEGATIVE_INFINITY : 10 * Math.log10((2 * sum) / samples.length / 32_768 ** 2)
}
