/**
 * When this process stops, and how quickly: a pure table of the requests to stop it and of its own faults.
 *
 * The first request stops the service in order, and live calls may continue for `DRAIN_SECS`. The second one ends them
 * now, and the process leaves soon, finished or not. The third one leaves at once. A fault does what the second request
 * does, with more time, because no person waits for it.
 */
interface State {
  readonly requests: number
  /** The time of the last signal, on the monotonic clock in milliseconds; null: there was none. */
  readonly signalledAt: number | null
  readonly isFaulty: boolean
  readonly isLeaving: boolean
}

export type Input =
  /** `keyboard`: SIGINT. `supervisor`: any other signal to end, and the end of the launcher. */
  | { readonly type: "signalled"; readonly by: "keyboard" | "supervisor"; readonly at: number }
  /** An error that nothing caught, or the end of something without which this process cannot continue. */
  | { readonly type: "failed" }
  /** The time of an earlier `leaveAfter` is over. */
  | { readonly type: "overdue" }

export type Act =
  | { readonly type: "stop" }
  | { readonly type: "hurry" }
  | { readonly type: "leaveAfter"; readonly ms: number }
  | { readonly type: "leave"; readonly code: number }

export const initial: State = { requests: 0, signalledAt: null, isFaulty: false, isLeaving: false }

/**
 * Signals that come within this time of one another are one request. A supervisor signals every process of a group at
 * once, and the launcher, npm and a shell pass on what they get, on a busy machine seconds later. A person who presses
 * Ctrl-C again means it.
 */
const sameRequestMs = { keyboard: 400, supervisor: 5_000 } as const
/** How long the service may take to close in order after a second request. */
const hurryMs = 2_000
/** The same after a fault: enough for the BYEs of all calls, their last commits, and a Postgres that stops. */
const faultMs = 25_000

const leave = (state: State): readonly [State, ReadonlyArray<Act>] => [
  { ...state, isLeaving: true },
  [{ type: "leave", code: state.isFaulty ? 1 : 130 }]
]

export const step = (state: State, input: Input): readonly [State, ReadonlyArray<Act>] => {
  if (state.isLeaving) return [state, []]
  switch (input.type) {
    case "overdue":
      return leave(state)
    case "failed":
      return state.isFaulty
        ? [state, []]
        : [{ ...state, isFaulty: true }, [{ type: "stop" }, { type: "hurry" }, { type: "leaveAfter", ms: faultMs }]]
    case "signalled": {
      if (state.signalledAt !== null && input.at - state.signalledAt < sameRequestMs[input.by]) return [state, []]
      const next = { ...state, signalledAt: input.at, requests: state.requests + 1 }
      if (next.requests === 1) return [next, [{ type: "stop" }]]
      if (next.requests === 2) return [next, [{ type: "hurry" }, { type: "leaveAfter", ms: hurryMs }]]
      return leave(next)
    }
  }
}
