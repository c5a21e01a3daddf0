/** A limit of requests: at most `limit` of one holder in any stretch of `windowMs`. */
export interface Window {
  readonly limit: number
  readonly windowMs: number
}

/**
 * The times of each holder's requests, in milliseconds of a monotonic clock. It keeps the limit in every window, where
 * a bucket of tokens (`TokenBucket.ts`) admits up to twice as many, and it knows when the next request may come. It is
 * for small limits, because it remembers each request. Mutable.
 */
export interface SlidingWindow {
  /**
   * Counts one request and returns 0. When there is no room, it counts nothing and returns the milliseconds until there
   * is.
   */
  readonly take: (holder: string, now: number) => number
  /** Takes back one request that was counted at `at`. */
  readonly undo: (holder: string, at: number) => void
  /** Forgets the holder's requests. */
  readonly clear: (holder: string) => void
  /** The number of remembered holders. */
  readonly size: () => number
}

/** `most`: the number of holders that are remembered; beyond it, the one counted longest ago is forgotten. */
export const make = ({ limit, windowMs }: Window, most = 10_000): SlidingWindow => {
  const taken = new Map<string, Array<number>>()
  return {
    take: (holder, now) => {
      const times = taken.get(holder) ?? []
      while (times[0] !== undefined && times[0] <= now - windowMs) times.shift()
      const [oldest] = times
      if (oldest !== undefined && times.length >= limit) return oldest + windowMs - now
      times.push(now)
      taken.delete(holder)
      taken.set(holder, times)
      if (taken.size > most) taken.delete(taken.keys().next().value ?? "")
      return 0
    },
    undo: (holder, at) => {
      const times = taken.get(holder) ?? []
      const index = times.lastIndexOf(at)
      if (index >= 0) times.splice(index, 1)
      if (times.length === 0) taken.delete(holder)
    },
    clear: (holder) => void taken.delete(holder),
    size: () => taken.size
  }
}
