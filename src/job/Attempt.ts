import type { Job, Retry } from "./Job.ts"

/**
 * What becomes of a row after an attempt, and when it is looked at next. Pure: all times are in milliseconds from now.
 */
export type Next =
  /** The work is done, its row goes. */
  | { readonly to: "gone" }
  /** It is due again: after a failed attempt (`error`), or because it recurs. */
  | { readonly to: "due"; readonly inMs: number; readonly error: string | null }
  /** Nobody tries again by itself; the row is kept. */
  | { readonly to: "failed"; readonly error: string }

/** `error` null: the attempt succeeded. */
export const after = (job: Pick<Job, "retry" | "everyMs">, attempt: number, error: string | null): Next => {
  const { everyMs, retry } = job
  if (error === null) return everyMs === undefined ? { to: "gone" } : { to: "due", inMs: everyMs, error: null }
  // What recurs never stops for good, and a failure never makes it slower than it is.
  if (everyMs !== undefined) return { to: "due", inMs: Math.min(delayMs(retry, attempt), everyMs), error }
  if (attempt >= retry.attempts) return { to: "failed", error }
  return { to: "due", inMs: delayMs(retry, attempt), error }
}

/** How long to wait after the failed attempt `attempt`, 1 for the first. */
export const delayMs = (retry: Retry, attempt: number): number =>
  Math.min(retry.maxMs, retry.firstMs * 2 ** Math.min(attempt - 1, 40))

/** A claim stands this much longer than an attempt may take: its outcome has to be written too. */
export const leaseMs = (job: Pick<Job, "timeoutMs">): number => job.timeoutMs + 30_000

/** Between two looks while something is near. */
export const nearMs = 1_000
/** Between two looks while nothing is: rows may come from where nobody wakes us. */
const farMs = 60_000

/** A transaction that puts a row has ended so long after, or never will. */
export const expectedMs = 40_000

/**
 * How long until the next look, when the nearest row is due in `inMs` (null: there is none). `expecting`: somebody has
 * put a row into a transaction that may not have ended yet.
 */
export const lookInMs = (inMs: number | null, expecting: boolean): number =>
  expecting ? nearMs : inMs === null ? farMs : Math.min(farMs, Math.max(nearMs, inMs))
