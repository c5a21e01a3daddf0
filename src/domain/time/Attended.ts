/**
 * Counts the time in which a thread that looks again and again could notice something. A thread that stood still
 * (its process was stopped, its machine slept, a turn of it took long) has not read yet what came meanwhile, so the
 * time between two looks counts as `mostMs` at most.
 */
export const make = (mostMs: number, startAt: number) => {
  let lookedAt = startAt
  let before = 0
  /** The counted milliseconds since the start. All times are of one monotonic clock. */
  const at = (now: number): number => before + Math.min(mostMs, now - lookedAt)
  return {
    at,
    look: (now: number): number => {
      before = at(now)
      lookedAt = now
      return before
    }
  } as const
}
