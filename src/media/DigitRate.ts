/**
 * How many digits of a far end count: `burst` at once, then one each `everyMs`, the shortest digit of ITU-T Q.24. Nobody
 * presses so many. Without it a far end that floods its leg would have a commit and an event for each.
 */
export const limits = { burst: 64, everyMs: 40 }

export interface DigitRate {
  /** Whether a digit at this time, in milliseconds of any steady clock, counts. */
  readonly take: (at: number) => boolean
}

export const make = (): DigitRate => {
  /** When as many as `burst` may come at once again. */
  let fullAt = Number.NEGATIVE_INFINITY
  return {
    take: (at) => {
      const next = Math.max(fullAt, at) + limits.everyMs
      if (next > at + limits.burst * limits.everyMs) return false
      fullAt = next
      return true
    }
  }
}
