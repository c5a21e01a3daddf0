/** Decides the fate of a delivery after an attempt, guide/webhooks.md#deliveries, as one pure table. */

/** The delays before attempts 2 to 7, each after the previous attempt. */
export const schedule: ReadonlyArray<number> = [
  30_000,
  2 * 60_000,
  10 * 60_000,
  3_600_000,
  6 * 3_600_000,
  24 * 3_600_000
]

export type Reply =
  /** `retryAfterMs` is null where the answer did not say when to come again. */
  | { readonly type: "answered"; readonly statusCode: number; readonly retryAfterMs: number | null }
  /** There was no complete answer, because of resolution, connection, TLS, the 10 s limit, or a refused address. */
  | { readonly type: "transport_error"; readonly message: string }
  /** No request was sent: the subscription is gone or inactive, or the failover URL was taken away. */
  | { readonly type: "withdrawn" }

export type Verdict =
  | { readonly status: "succeeded" }
  | { readonly status: "failed" }
  | { readonly status: "queued"; readonly retryAfterMs: number }

/** `attemptNo` counts from 1. When all of `delaysMs` are used up, a failing attempt is final. */
export const judge = (attemptNo: number, reply: Reply, delaysMs: ReadonlyArray<number> = schedule): Verdict => {
  switch (reply.type) {
    case "withdrawn":
      return { status: "failed" }
    case "transport_error":
      return again(attemptNo, delaysMs)
    case "answered":
      if (reply.statusCode >= 200 && reply.statusCode < 300) return { status: "succeeded" }
      if (passing.has(reply.statusCode) && reply.retryAfterMs !== null)
        return later(attemptNo, reply.retryAfterMs, delaysMs)
      if (reply.statusCode >= 400 && reply.statusCode < 500) return { status: "failed" }
      // A redirect is not followed and counts like a 5xx.
      return again(attemptNo, delaysMs)
  }
}

/** Request Timeout, Too Early, Too Many Requests: with `Retry-After` they refuse the moment and not the event. */
const passing: ReadonlySet<number> = new Set([408, 425, 429])

const shortestMs = 1_000
const longestMs = 24 * 3_600_000

/**
 * Waits as long as the target asked, within bounds. From the second attempt on it also waits as long as the schedule
 * did before this attempt, because a target that always asks for a second would use up all attempts in seconds.
 */
const later = (attemptNo: number, retryAfterMs: number, delaysMs: ReadonlyArray<number>): Verdict => {
  if (delaysMs[attemptNo - 1] === undefined) return { status: "failed" }
  const asked = Math.min(Math.max(retryAfterMs, shortestMs), longestMs)
  return { status: "queued", retryAfterMs: Math.max(asked, delaysMs[attemptNo - 2] ?? 0) }
}

/** An HTTP date, RFC 9110 section 5.6.7: a day's name comes first in all of its forms. */
const httpDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{2}:\d{2}:\d{2}/

/** Reads a `Retry-After` header: seconds, or a date. Null: it is absent, or neither. `now` is in epoch milliseconds. */
export const retryAfterMs = (header: string | undefined, now: number): number | null => {
  if (header === undefined) return null
  if (/^\d+$/.test(header)) return Number(header) * 1_000
  const at = httpDate.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

const again = (attemptNo: number, delaysMs: ReadonlyArray<number>): Verdict => {
  const retryAfterMs = delaysMs[attemptNo - 1]
  return retryAfterMs === undefined ? { status: "failed" } : { status: "queued", retryAfterMs }
}

/** The delivery's `error_message`; null after a success. */
export const explain = (reply: Reply): string | null => {
  switch (reply.type) {
    case "withdrawn":
      return "the target is no longer subscribed"
    case "transport_error":
      return reply.message
    case "answered":
      return reply.statusCode >= 200 && reply.statusCode < 300 ? null : `the target answered ${reply.statusCode}`
  }
}
