import type { Job, Retry } from "./Job.ts"

/** The fate of a row after an attempt, and the time until its next one. Pure: all times are milliseconds from now. */
export type Next =
  | { readonly type: "gone" }
  /** The row is due again, after a failed attempt (`error`) or because it recurs. */
  | { readonly type: "due"; readonly inMs: number; readonly error: string | null }
  /** There is no further attempt unless the operator asks for one; the row is kept. */
  | { readonly type: "failed"; readonly error: string }

/** Decides the fate of a row after attempt number `attempt`. `error` null: the attempt succeeded. */
export const after = (job: Pick<Job, "retry" | "everyMs">, attempt: number, error: string | null): Next => {
  const { everyMs, retry } = job
  if (error === null) return everyMs === undefined ? { type: "gone" } : { type: "due", inMs: everyMs, error: null }
  // A recurring job never stops for good, and a failure never makes it rarer than its period.
  if (everyMs !== undefined) return { type: "due", inMs: Math.min(delayMs(retry, attempt), everyMs), error }
  if (attempt >= retry.attempts) return { type: "failed", error }
  return { type: "due", inMs: delayMs(retry, attempt), error }
}

/** The wait after the failed attempt number `attempt`, 1 for the first, in milliseconds. */
export const delayMs = (retry: Retry, attempt: number): number =>
  Math.min(retry.maxMs, retry.firstMs * 2 ** Math.min(attempt - 1, 40))

/** A claim lasts longer than an attempt may take, because its outcome has to be written too. */
export const leaseMs = (job: Pick<Job, "timeoutMs">): number => job.timeoutMs + 30_000

/** The time between two looks while a row is due soon. */
export const nearMs = 1_000
/** The longest time between two looks. There is one because other processes put rows and do not wake this one. */
const farMs = 60_000

/** A transaction that puts a row has ended after this time, or never will. */
export const expectedMs = 40_000

/**
 * The time until the next look, when the nearest row is due in `inMs` (null: there is none). `expecting`: a row was put
 * in a transaction that may not have ended yet.
 */
export const lookInMs = (inMs: number | null, expecting: boolean): number =>
  expecting ? nearMs : inMs === null ? farMs : Math.min(farMs, Math.max(nearMs, inMs))
