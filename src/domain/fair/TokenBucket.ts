/** How fast something may come: `burst` at once, and then one each `everyMs`. */
export interface Rate {
  readonly burst: number
  readonly everyMs: number
}

/** A bucket of tokens that fills again with time. Times are milliseconds of any steady clock. Mutable. */
interface TokenBucket {
  /** Takes a token. False: the bucket is empty. */
  readonly take: (now: number) => boolean
  /** Takes tokens for something that has come already. The bucket may then hold less than nothing. */
  readonly charge: (tokens: number, now: number) => void
  /** Whether the bucket holds more than nothing. */
  readonly isLeft: (now: number) => boolean
}

/**
 * The buckets of many holders (addresses, trunks). At most `mostHolders` are remembered, each until its bucket is full
 * again, so an attacker gains nothing by using many addresses. While there is no room, a new holder gets nothing.
 */
interface TokenBuckets {
  /** Takes a token out of the holder's bucket. False: that bucket is empty, or the one that all share. */
  readonly take: (holder: string, now: number) => boolean
  /** The number of remembered holders. */
  readonly size: () => number
}

/** When a bucket has just become full, the sum of its fractions may exceed its size by less than this. */
const roundingMs = 0.001

/**
 * When a bucket is full again after it has given one more token; null: it is empty. The time at which a bucket is full
 * is its whole state (the generic cell rate algorithm, ITU-T I.371).
 */
const afterOne = ({ burst, everyMs }: Rate, fullAt: number, now: number): number | null => {
  const next = Math.max(fullAt, now) + everyMs
  return next <= now + burst * everyMs + roundingMs ? next : null
}

export const make = (rate: Rate): TokenBucket => {
  let fullAt = Number.NEGATIVE_INFINITY
  return {
    take: (now) => {
      const next = afterOne(rate, fullAt, now)
      if (next === null) return false
      fullAt = next
      return true
    },
    charge: (tokens, now) => {
      fullAt = Math.max(fullAt, now) + tokens * rate.everyMs
    },
    isLeft: (now) => fullAt + roundingMs < now + rate.burst * rate.everyMs
  }
}

export interface SharedRate {
  /** The rate of each holder. */
  readonly each: Rate
  /** The rate of all holders together; absent: it has no bound. */
  readonly all?: Rate
  readonly mostHolders: number
}

/** Buckets whose rate is known only when a token is taken: a setting may change it. */
export const rated = ({ all, mostHolders }: Omit<SharedRate, "each">) => {
  /** When each bucket is full again, in the order of last use. */
  const fullAt = new Map<string, number>()
  let allFullAt = Number.NEGATIVE_INFINITY

  const forget = (now: number): void => {
    for (const [holder, at] of fullAt) {
      if (at > now) return
      fullAt.delete(holder)
    }
  }

  return {
    take: (holder: string, each: Rate, now: number): boolean => {
      forget(now)
      const before = fullAt.get(holder)
      if (before === undefined && fullAt.size >= mostHolders) return false
      const next = afterOne(each, before ?? now, now)
      const allNext = all === undefined ? allFullAt : afterOne(all, allFullAt, now)
      if (next === null || allNext === null) return false
      fullAt.delete(holder)
      fullAt.set(holder, next)
      allFullAt = allNext
      return true
    },
    size: () => fullAt.size
  }
}

export const byHolder = (rate: SharedRate): TokenBuckets => {
  const { size, take } = rated(rate)
  return { take: (holder, now) => take(holder, rate.each, now), size }
}
