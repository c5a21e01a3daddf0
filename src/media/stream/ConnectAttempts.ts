/**
 * The attempts to connect a stream: three within ten seconds; and those to connect it again after its connection broke,
 * with growing pauses, for as long as it asks for. guide/streams.md#connecting.
 *
 * Times are milliseconds of any steady clock.
 */
export interface ConnectAttempts {
  readonly startedAt: number
  /** The number of the present or the last attempt, from 1. */
  readonly count: number
  /** When the next attempt begins; null: one is under way. */
  readonly nextAt: number | null
  /** How long a broken connection is tried again; null: there was none. */
  readonly againMs: number | null
}

export const limits = { count: 3, withinMs: 10_000, pauseMs: 500 }
/** The pause before the second attempt to connect again, which doubles; and the time limit of each attempt. */
const again = { firstMs: 250, mostMs: 4_000, patienceMs: 5_000 }

/** `waitMs`: the first attempt begins only then. */
export const first = (now: number, waitMs = 0): ConnectAttempts => ({
  startedAt: now + waitMs,
  count: 1,
  nextAt: waitMs === 0 ? null : now + waitMs,
  againMs: null
})

/** The connection broke: the first attempt to connect again begins after a pause. */
export const afterLoss = (now: number, againMs: number): ConnectAttempts => ({
  startedAt: now,
  count: 1,
  nextAt: now + again.firstMs,
  againMs
})

const endsAt = ({ againMs, startedAt }: ConnectAttempts): number => startedAt + (againMs ?? limits.withinMs)

/** The attempt failed; null: it was the last. */
export const failed = (attempts: ConnectAttempts, now: number): ConnectAttempts | null => {
  const { againMs, count } = attempts
  const pauseMs = againMs === null ? limits.pauseMs : Math.min(again.mostMs, again.firstMs * 2 ** count)
  if ((againMs === null && count >= limits.count) || now + pauseMs >= endsAt(attempts)) return null
  return { ...attempts, count: count + 1, nextAt: now + pauseMs }
}

/** Begins the next attempt if it is due; null: it is not. */
export const due = (attempts: ConnectAttempts, now: number): ConnectAttempts | null =>
  attempts.nextAt === null || attempts.nextAt > now ? null : { ...attempts, nextAt: null }

export const isOver = (attempts: ConnectAttempts, now: number): boolean => now >= endsAt(attempts)

/** The time limit of the present attempt; at first, later ones and their pauses share the remaining time equally. */
export const patienceMs = (attempts: ConnectAttempts, now: number): number => {
  const { againMs, count } = attempts
  const left = endsAt(attempts) - now
  if (againMs !== null) return Math.max(1, Math.min(again.patienceMs, left))
  return Math.max(1, left / (limits.count - count + 1) - (count < limits.count ? limits.pauseMs : 0))
}
