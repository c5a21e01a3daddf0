/**
 * How often and for how long a stream is tried to be connected: three times within ten seconds, guide/streams.md#connecting.
 *
 * Times are milliseconds of any steady clock.
 */
export interface Attempts {
  readonly startedAt: number
  /** Of the present or the last try, from 1. */
  readonly count: number
  /** When the next try begins; null: one is under way. */
  readonly nextAt: number | null
}

export const limits = { count: 3, withinMs: 10_000, pauseMs: 500 }

export const first = (now: number): Attempts => ({ startedAt: now, count: 1, nextAt: null })

/** The try failed; null: that was the last. */
export const failed = ({ count, startedAt }: Attempts, now: number): Attempts | null =>
  count >= limits.count || now + limits.pauseMs >= startedAt + limits.withinMs
    ? null
    : { startedAt, count: count + 1, nextAt: now + limits.pauseMs }

/** The next try is due: it is under way now. Null: it is not due. */
export const due = (attempts: Attempts, now: number): Attempts | null =>
  attempts.nextAt === null || attempts.nextAt > now ? null : { ...attempts, nextAt: null }

/** What is left for the present try: an even share of the time for each that may follow, with their pauses. */
export const patienceMs = ({ count, startedAt }: Attempts, now: number): number => {
  const left = startedAt + limits.withinMs - now
  return Math.max(1, left / (limits.count - count + 1) - (count < limits.count ? limits.pauseMs : 0))
}
