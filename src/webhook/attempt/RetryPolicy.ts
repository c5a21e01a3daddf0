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
  | { readonly type: "answered"; readonly statusCode: number }
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
      // 408 and 429 are no exceptions. A redirect is not followed and counts like a 5xx.
      if (reply.statusCode >= 400 && reply.statusCode < 500) return { status: "failed" }
      return again(attemptNo, delaysMs)
  }
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
