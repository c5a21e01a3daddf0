/**
 * INVITE client transaction, RFC 3261 section 17.1.1 with the Accepted state of RFC 6026 section 7.2.
 *
 * Retransmits the INVITE (Timer A) until a response or Timer B, acknowledges 3xx to 6xx itself, and passes every 2xx to
 * the TU, which acknowledges those (section 13.2.2.4). A ringing transaction has no timer of its own: the TU bounds its
 * life. After sending CANCEL the TU inputs `cancelled`, and gets `failed` 64*T1 later at the latest (section 9.1).
 */
import * as Requests from "../message/Requests.ts"
import type { SipRequest, SipResponse } from "../message/SipMessage.ts"
import * as Timers from "./Timers.ts"
import * as Transaction from "./Transaction.ts"

type Phase = "calling" | "proceeding" | "accepted" | "completed" | "terminated"
type Timer = "A" | "B" | "D" | "M"

export interface State extends Transaction.State<Phase, Timer> {
  readonly request: SipRequest
  /** The current interval of Timer A. */
  readonly intervalMs: number
  /** The answer to every 3xx to 6xx, from Completed on. */
  readonly ack: SipRequest | null
}

export type Input =
  | { readonly type: "response"; readonly response: SipResponse }
  /** The TU sent CANCEL. */
  | { readonly type: "cancelled" }
  | Transaction.Due
  | Transaction.TransportError

type Step = Transaction.Step<State>

/** The messages that come with events; timers come with nothing. */
interface Messages {
  readonly provisional: SipResponse
  readonly success: SipResponse
  readonly failure: SipResponse
  readonly cancelled: undefined
}

const proceed = (state: State, _now: number, response: SipResponse): Step => ({
  state: { ...state, phase: "proceeding", deadlines: [] },
  outputs: [Transaction.deliver(response)]
})

const accept = (state: State, now: number, response: SipResponse): Step => ({
  state: { ...state, phase: "accepted", deadlines: Transaction.arm(now, { M: state.timers.m }) },
  outputs: [Transaction.deliver(response)]
})

const complete = (state: State, now: number, response: SipResponse): Step => {
  const ack = Requests.ackFailure(state.request, response)
  return {
    state: { ...state, phase: "completed", ack, deadlines: Transaction.arm(now, { D: state.timers.d }) },
    outputs: [Transaction.deliver(response), Transaction.send(ack)]
  }
}

const acknowledge = (state: State): Step => ({
  state,
  outputs: state.ack === null ? [] : [Transaction.send(state.ack)]
})

const retransmit = (state: State, now: number): Step =>
  Transaction.resend(state, "A", { at: now, intervalMs: state.intervalMs * 2 }, state.request)

const { end, ignore, pass, refuse, timeout } = Transaction

const limit = (state: State, now: number): Step =>
  state.deadlines.length > 0
    ? ignore(state)
    : { state: { ...state, deadlines: Transaction.arm(now, { B: state.timers.b }) }, outputs: [] }

// prettier-ignore
/** RFC 6026 figure 5: a row for each state, a column for each event. */
const table: Transaction.Table<State, Messages> = {
  calling: {
    provisional: proceed, success: accept, failure: complete, cancelled: ignore,
    A: retransmit, B: timeout, D: ignore, M: ignore, transportError: refuse
  },
  proceeding: {
    provisional: pass, success: accept, failure: complete, cancelled: limit,
    A: ignore, B: timeout, D: ignore, M: ignore, transportError: ignore
  },
  accepted: {
    provisional: ignore, success: pass, failure: ignore, cancelled: ignore,
    A: ignore, B: ignore, D: ignore, M: end, transportError: ignore
  },
  completed: {
    provisional: ignore, success: ignore, failure: acknowledge, cancelled: ignore,
    A: ignore, B: ignore, D: end, M: ignore, transportError: refuse
  },
  terminated: {
    provisional: ignore, success: ignore, failure: ignore, cancelled: ignore,
    A: ignore, B: ignore, D: ignore, M: ignore, transportError: ignore
  }
}

const { take, takeOwn } = Transaction.machine<State, Messages>(table)

/** Sends the INVITE. */
export const start = (request: SipRequest, now: number, timers: Timers.Timers = Timers.udp): Step => ({
  state: {
    phase: "calling",
    request,
    timers,
    deadlines: Transaction.arm(now, { A: timers.a, B: timers.b }),
    intervalMs: timers.a,
    ack: null
  },
  outputs: [Transaction.send(request)]
})

/**
 * Resumes, after a restart, an INVITE that an earlier process sent and this one is cancelling. Nothing is sent, the
 * final answer is acknowledged or passed on, and without one it fails 64*T1 from now.
 */
export const resume = (request: SipRequest, now: number, timers: Timers.Timers = Timers.udp): Step => ({
  state: {
    phase: "proceeding",
    request,
    timers,
    deadlines: Transaction.arm(now, { B: timers.b }),
    intervalMs: timers.a,
    ack: null
  },
  outputs: []
})

export const step = (state: State, input: Input, now: number): Step => {
  switch (input.type) {
    case "response": {
      const { response } = input
      if (response.status < 200) return take(state, now, "provisional", response)
      return take(state, now, response.status < 300 ? "success" : "failure", response)
    }
    case "cancelled":
      return take(state, now, "cancelled", undefined)
    case "due":
    case "transportError":
      return takeOwn(state, input, now)
  }
}
