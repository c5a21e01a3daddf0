import type { SampleRate } from "./SampleRate.ts"

/** -1 dBFS. */
const ceiling = 29_204
/** How long the gain takes to fall. */
const attackMs = 2
/** How many frames the gain stays after it has fallen. */
const holdFrames = 10
/** The factor by which it rises in each frame after that. */
const rise = 1.01

export interface Limiter {
  /** Whether it changes nothing at present. */
  readonly isResting: () => boolean
  /** Writes `sum` into `out`, up to the length of `out`. */
  readonly process: (sum: Int32Array, out: Int16Array, rate: SampleRate) => void
  /** Takes over the state of another limiter. */
  readonly follow: (other: Limiter) => void
  /** Its gain, and the least number of frames for which it stays; lent. */
  readonly state: Float64Array
  /** Whether it has the same gain as another limiter. */
  readonly isLike: (other: Limiter) => boolean
}

/**
 * Reduces sums of several sounds to 16 bits, frame by frame, without the crackle of clipping: if a frame would exceed
 * -1 dBFS, the gain falls within 2 ms, stays for ten frames, and rises by 1 % a frame.
 */
export const make = (): Limiter => {
  // A typed array, because a changing fraction in a variable is allocated anew at each change.
  const state = Float64Array.of(1, 0)

  const peakOf = (sum: Int32Array, length: number): number => {
    let peak = 0
    for (let i = 0; i < length; i++) peak = Math.max(peak, Math.abs(sum[i] ?? 0))
    return peak
  }

  /** Returns the gain at the end of a frame with this peak, and sets how many samples the change takes. */
  const step = (from: number, peak: number): number => {
    const allowed = peak > ceiling ? ceiling / peak : 1
    if (allowed < from) {
      state[1] = holdFrames
      return allowed
    }
    const hold = state[1] ?? 0
    if (hold > 0) {
      state[1] = hold - 1
      return from
    }
    return Math.min(1, allowed, from * rise)
  }

  return {
    state,
    isResting: () => state[0] === 1,
    isLike: (other) => state[0] === other.state[0],
    follow: (other) => state.set(other.state),
    process: (sum, out, rate) => {
      const from = state[0] ?? 1
      const to = step(from, peakOf(sum, out.length))
      state[0] = to
      const length = to < from ? (rate * attackMs) / 1000 : out.length
      for (let i = 0; i < out.length; i++) {
        const present = i < length ? from + ((to - from) * (i + 1)) / length : to
        out[i] = Math.max(-32_768, Math.min(32_767, Math.round((sum[i] ?? 0) * present)))
      }
    }
  }
}
