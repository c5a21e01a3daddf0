/**
 * INVITE server transaction, RFC 3261 section 17.2.1 with the Accepted state of RFC 6026 section 7.1.
 *
 * Sends 100 Trying by itself when the TU has not answered within 200 ms, repeats the last response to a repeated
 * INVITE, and retransmits 3xx to 6xx (Timer G) until ACK or Timer H. A 2xx is retransmitted by the TU (section
 * 13.3.1.4, `SuccessRetransmission`). A refused send leaves the state unchanged (RFC 6026 section 8.7): the INVITE
 * comes again.
 */
import * as Responses from "../message/Responses.ts"
import type { SipRequest, SipResponse } from "../message/SipMessage.ts"
import * as Timers from "./Timers.ts"
import * as Transaction from "./Transaction.ts"

type Phase = "proceeding" | "accepted" | "completed" | "confirmed" | "terminated"
/** `trying` is the 200 ms after which the transaction answers 100 for the TU. */
type Timer = "trying" | "G" | "H" | "I" | "L"

export interface State extends Transaction.State<Phase, Timer> {
  /** The basis of its responses, `Responses.basis`. */
  readonly basis: SipRequest
  /** The response that a repeated INVITE gets. */
  readonly last: SipResponse | null
  /** The current interval of Timer G. */
  readonly intervalMs: number
}

export type Input =
  /** An INVITE or ACK that matches this transaction. */
  | { readonly type: "request"; readonly request: SipRequest }
  | { readonly type: "respond"; readonly response: SipResponse }
  | Transaction.Due
  | Transaction.TransportError

type Step = Transaction.Step<State>

/** The messages that come with events; timers come with nothing. */
interface Messages {
  readonly invite: SipRequest
  readonly ack: SipRequest
  readonly provisional: SipResponse
  readonly success: SipResponse
  readonly failure: SipResponse
}

const ring = (state: State, _now: number, response: SipResponse): Step => ({
  state: { ...state, last: response, deadlines: [] },
  outputs: [Transaction.send(response)]
})

const accept = (state: State, now: number, response: SipResponse): Step => ({
  state: { ...state, phase: "accepted", last: response, deadlines: Transaction.arm(now, { L: state.timers.l }) },
  outputs: [Transaction.send(response)]
})

const complete = (state: State, now: number, response: SipResponse): Step => ({
  state: {
    ...state,
    phase: "completed",
    last: response,
    intervalMs: state.timers.g,
    deadlines: Transaction.arm(now, { G: state.timers.g, H: state.timers.h })
  },
  outputs: [Transaction.send(response)]
})

const trying = (state: State, now: number): Step => ring(state, now, Responses.make(state.basis, 100))

const retransmit = (state: State, now: number): Step =>
  Transaction.resend(state, "G", { at: now, intervalMs: Math.min(state.intervalMs * 2, state.timers.t2) }, state.last)

const confirm = (state: State, now: number): Step => ({
  state: { ...state, phase: "confirmed", deadlines: Transaction.arm(now, { I: state.timers.i }) },
  outputs: []
})

const sendAgain = (state: State, _now: number, response: SipResponse): Step => ({
  state: { ...state, last: response },
  outputs: [Transaction.send(response)]
})

const { end, ignore, inform, pass, repeat, timeout } = Transaction

// prettier-ignore
/** RFC 6026 figure 7: a row for each state, a column for each event. */
const table: Transaction.Table<State, Messages> = {
  proceeding: {
    invite: repeat, ack: ignore, provisional: ring, success: accept, failure: complete,
    trying, G: ignore, H: ignore, I: ignore, L: ignore, transportError: inform
  },
  accepted: {
    invite: ignore, ack: pass, provisional: ignore, success: sendAgain, failure: ignore,
    trying: ignore, G: ignore, H: ignore, I: ignore, L: end, transportError: inform
  },
  completed: {
    invite: repeat, ack: confirm, provisional: ignore, success: ignore, failure: ignore,
    trying: ignore, G: retransmit, H: timeout, I: ignore, L: ignore, transportError: inform
  },
  confirmed: {
    invite: ignore, ack: ignore, provisional: ignore, success: ignore, failure: ignore,
    trying: ignore, G: ignore, H: ignore, I: end, L: ignore, transportError: ignore
  },
  terminated: {
    invite: ignore, ack: ignore, provisional: ignore, success: ignore, failure: ignore,
    trying: ignore, G: ignore, H: ignore, I: ignore, L: ignore, transportError: ignore
  }
}

const { take, takeOwn } = Transaction.machine<State, Messages>(table)

/** Passes the INVITE to the TU, and keeps only what responses need. */
export const start = (request: SipRequest, now: number, timers: Timers.Timers = Timers.udp): Step => {
  const basis = Responses.basis(request)
  return {
    state: {
      phase: "proceeding",
      basis,
      timers,
      deadlines: Transaction.arm(now, { trying: timers.trying }),
      last: null,
      intervalMs: timers.g
    },
    outputs: [Transaction.deliver(Responses.onBasis(request, basis))]
  }
}

export const step = (state: State, input: Input, now: number): Step => {
  switch (input.type) {
    case "request":
      return take(state, now, input.request.method === "ACK" ? "ack" : "invite", input.request)
    case "respond": {
      const { response } = input
      if (response.status < 200) return take(state, now, "provisional", response)
      return take(state, now, response.status < 300 ? "success" : "failure", response)
    }
    case "due":
    case "transportError":
      return takeOwn(state, input, now)
  }
}
