/**
 * The limit on the digits of a far end: `burst` at once, then one each `everyMs`, the shortest digit of ITU-T Q.24. No
 * caller presses so many. Without the limit, a far end that floods its leg would cause a commit and an event for each
 * digit.
 */
export const limits = { burst: 64, everyMs: 40 }

export interface DigitRate {
  /** Whether a digit at this time, in milliseconds of any steady clock, counts. */
  readonly take: (at: number) => boolean
}

export const make = (): DigitRate => {
  /** When a whole `burst` may come at once again. */
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
