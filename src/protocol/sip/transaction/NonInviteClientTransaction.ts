/**
 * Non-INVITE client transaction, RFC 3261 section 17.1.2.
 *
 * Retransmits (Timer E, doubling up to T2, every T2 after a provisional response) until a final response or Timer F,
 * then absorbs repeated responses for Timer K.
 */
import type { SipRequest, SipResponse } from "../message/SipMessage.ts"
import * as Timers from "./Timers.ts"
import * as Transaction from "./Transaction.ts"

type Phase = "trying" | "proceeding" | "completed" | "terminated"
type Timer = "E" | "F" | "K"

export interface State extends Transaction.State<Phase, Timer> {
  readonly request: SipRequest
  /** The current interval of Timer E. */
  readonly intervalMs: number
}

export type Input =
  | { readonly type: "response"; readonly response: SipResponse }
  | Transaction.Due
  | Transaction.TransportError

type Step = Transaction.Step<State>

/** The messages that come with events; timers come with nothing. */
interface Messages {
  readonly provisional: SipResponse
  readonly final: SipResponse
}

const proceed = (state: State, _now: number, response: SipResponse): Step => ({
  state: { ...state, phase: "proceeding" },
  outputs: [Transaction.deliver(response)]
})

const complete = (state: State, now: number, response: SipResponse): Step => ({
  state: { ...state, phase: "completed", deadlines: Transaction.arm(now, { K: state.timers.k }) },
  outputs: [Transaction.deliver(response)]
})

const resend = (state: State, now: number, intervalMs: number): Step =>
  Transaction.resend(state, "E", { at: now, intervalMs }, state.request)

const double = (state: State, now: number): Step => resend(state, now, Math.min(state.intervalMs * 2, state.timers.t2))
const repeat = (state: State, now: number): Step => resend(state, now, state.timers.t2)

const { end, ignore, refuse, timeout } = Transaction

// prettier-ignore
/** RFC 3261 figure 6: a row for each state, a column for each event. */
const table: Transaction.Table<State, Messages> = {
  trying: {
    provisional: proceed, final: complete, E: double, F: timeout, K: ignore, transportError: refuse
  },
  proceeding: {
    provisional: proceed, final: complete, E: repeat, F: timeout, K: ignore, transportError: refuse
  },
  completed: {
    provisional: ignore, final: ignore, E: ignore, F: ignore, K: end, transportError: ignore
  },
  terminated: {
    provisional: ignore, final: ignore, E: ignore, F: ignore, K: ignore, transportError: ignore
  }
}

const { take, takeOwn } = Transaction.machine<State, Messages>(table)

/** Sends the request. */
export const start = (request: SipRequest, now: number, timers: Timers.Timers = Timers.udp): Step => ({
  state: {
    phase: "trying",
    request,
    timers,
    deadlines: Transaction.arm(now, { E: timers.e, F: timers.f }),
    intervalMs: timers.e
  },
  outputs: [Transaction.send(request)]
})

export const step = (state: State, input: Input, now: number): Step => {
  switch (input.type) {
    case "response":
      return take(state, now, input.response.status < 200 ? "provisional" : "final", input.response)
    case "due":
    case "transportError":
      return takeOwn(state, input, now)
  }
}
