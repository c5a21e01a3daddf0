/**
 * The subscription that a REFER of ours makes, RFC 3515 section 2.4 with RFC 6665 section 4.1.2: the peer notifies us
 * of the outcome of the request that we asked it to send.
 *
 * It ends when the peer ends it, or when its time is over; it is never refreshed. It outputs `finished` exactly once.
 */
export interface State {
  readonly phase:
    /** The REFER has no final response; a NOTIFY may come before it. */
    | "sent"
    /** The REFER was accepted, or a NOTIFY implied it, and the request is not sent yet. */
    | "pending"
    | "active"
    | "terminated"
  /** CSeq number of the REFER: the `id` of its event (RFC 3515 section 2.4.6). */
  readonly id: number
  /** Whether `finished` was output; a later NOTIFY changes nothing. */
  readonly finished: boolean
  /** When it ends by itself; `null` while it waits for the response to the REFER. */
  readonly deadline: number | null
}

export interface Notified {
  readonly subscription: "pending" | "active" | "terminated"
  /** `null` when the NOTIFY gives none. */
  readonly expiresSecs: number | null
  /** The status in the first line of its `message/sipfrag`; `null` when it has none. */
  readonly status: number | null
}

export type Input =
  /** The REFER got this 2xx. */
  | { readonly type: "accepted"; readonly status: number }
  | { readonly type: "refused"; readonly status: number | null }
  | { readonly type: "notified"; readonly notified: Notified }
  | { readonly type: "due" }
  /** The dialog is over. */
  | { readonly type: "dropped" }

export type Output =
  | { readonly type: "accepted"; readonly status: number }
  | { readonly type: "progress"; readonly status: number }
  /** `null` when the outcome of the request is unknown. */
  | { readonly type: "finished"; readonly status: number | null }

export interface Step {
  readonly state: State
  readonly outputs: ReadonlyArray<Output>
}

/** Timer N, RFC 6665 section 4.1.2.4: the time within which the first NOTIFY has to arrive. */
export const firstNotifyMs = 32_000
/** How long a subscription lasts whose NOTIFY names no time, and the longest that we wait for a NOTIFY. */
export const defaultSecs = 180
export const longestSecs = 3_600

export const start = (id: number): State => ({ phase: "sent", id, finished: false, deadline: null })

const finish = (state: State, status: number | null): Step =>
  state.finished
    ? { state, outputs: [] }
    : { state: { ...state, finished: true }, outputs: [{ type: "finished", status }] }

const end = (state: State, status: number | null): Step =>
  finish({ ...state, phase: "terminated", deadline: null }, status)

export const step = (state: State, input: Input, now: number): Step => {
  const same: Step = { state, outputs: [] }
  if (state.phase === "terminated") return same
  switch (input.type) {
    case "accepted":
      return {
        state: state.phase === "sent" ? { ...state, phase: "pending", deadline: now + firstNotifyMs } : state,
        outputs: state.finished ? [] : [{ type: "accepted", status: input.status }]
      }
    case "refused":
      return end(state, input.status)
    case "dropped":
      return end(state, null)
    case "due":
      return state.deadline !== null && state.deadline <= now ? end(state, null) : same
    case "notified": {
      const { expiresSecs, status, subscription } = input.notified
      if (subscription === "terminated") return end(state, status)
      const secs = Math.min(expiresSecs ?? defaultSecs, longestSecs)
      const next: State = { ...state, phase: subscription, deadline: now + secs * 1_000 }
      if (status === null || next.finished) return { state: next, outputs: [] }
      return status < 200 ? { state: next, outputs: [{ type: "progress", status }] } : finish(next, status)
    }
  }
}
