/** As loud as the line of a quiet office, so that a silent room does not seem dead. */
const dbfs = -65
/** A power of two; the table has a frame more, for one that begins near the end. */
const length = 8192
const longestFrame = 320

/** White noise from a linear congruential generator (Numerical Recipes); always the same. */
const table = (): Int16Array => {
  const amplitude = 32_768 * 10 ** (dbfs / 20) * Math.sqrt(1.5)
  let word = 1
  return Int16Array.from({ length: length + longestFrame }, () => {
    word = (Math.imul(word, 1_664_525) + 1_013_904_223) | 0
    return Math.round((word / 2 ** 31) * amplitude)
  })
}

const shared = table()

export interface Comfort {
  /** Adds a frame of noise, of up to 320 samples, to the first `count` samples of a sum. */
  readonly addTo: (sum: Int32Array, count: number) => void
}

/** The comfort noise that the members of a room hear beside all other sound. */
export const make = (noise: Int16Array = shared): Comfort => {
  let word = 0
  return {
    addTo: (sum, count) => {
      // Each frame begins at another place of the table, so that the noise has no period.
      word = (Math.imul(word, 1_664_525) + 1_013_904_223) | 0
      const from = word >>> 19
      for (let i = 0; i < count; i++) sum[i] = (sum[i] ?? 0) + (noise[from + i] ?? 0)
    }
  }
}

/** No noise, for tests that compare with an exact sum. */
export const none: Comfort = { addTo: () => undefined }
