/**
 * The attempts to connect a stream: three within ten seconds, guide/streams.md#connecting.
 *
 * Times are milliseconds of any steady clock.
 */
export interface ConnectAttempts {
  readonly startedAt: number
  /** The number of the present or the last attempt, from 1. */
  readonly count: number
  /** When the next attempt begins; null: one is under way. */
  readonly nextAt: number | null
}

export const limits = { count: 3, withinMs: 10_000, pauseMs: 500 }

/** `waitMs`: the first attempt begins only then. */
export const first = (now: number, waitMs = 0): ConnectAttempts => ({
  startedAt: now + waitMs,
  count: 1,
  nextAt: waitMs === 0 ? null : now + waitMs
})

/** The attempt failed; null: it was the last. */
export const failed = ({ count, startedAt }: ConnectAttempts, now: number): ConnectAttempts | null =>
  count >= limits.count || now + limits.pauseMs >= startedAt + limits.withinMs
    ? null
    : { startedAt, count: count + 1, nextAt: now + limits.pauseMs }

/** Begins the next attempt if it is due; null: it is not. */
export const due = (attempts: ConnectAttempts, now: number): ConnectAttempts | null =>
  attempts.nextAt === null || attempts.nextAt > now ? null : { ...attempts, nextAt: null }

/** The time limit of the present attempt: the remaining time is shared equally with later ones and their pauses. */
export const patienceMs = ({ count, startedAt }: ConnectAttempts, now: number): number => {
  const left = startedAt + limits.withinMs - now
  return Math.max(1, left / (limits.count - count + 1) - (count < limits.count ? limits.pauseMs : 0))
}
