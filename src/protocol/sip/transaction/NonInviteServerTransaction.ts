/**
 * Non-INVITE server transaction, RFC 3261 section 17.2.2.
 *
 * Repeats the last response to a repeated request and forgets it Timer J after the final one. A refused send leaves the
 * state unchanged (RFC 6026 section 8.7, which replaces the transport error arrows of figure 8).
 */
import * as Responses from "../message/Responses.ts"
import type { SipRequest, SipResponse } from "../message/SipMessage.ts"
import * as Timers from "./Timers.ts"
import * as Transaction from "./Transaction.ts"

type Phase = "trying" | "proceeding" | "completed" | "terminated"
type Timer = "J"

export interface State extends Transaction.State<Phase, Timer> {
  /** The response that a repeated request gets. */
  readonly last: SipResponse | null
}

export type Input =
  | { readonly type: "request"; readonly request: SipRequest }
  | { readonly type: "respond"; readonly response: SipResponse }
  | Transaction.Due
  | Transaction.TransportError

type Step = Transaction.Step<State>

/** The messages that come with events; timers come with nothing. */
interface Messages {
  readonly request: SipRequest
  readonly provisional: SipResponse
  readonly final: SipResponse
}

const proceed = (state: State, _now: number, response: SipResponse): Step => ({
  state: { ...state, phase: "proceeding", last: response },
  outputs: [Transaction.send(response)]
})

const complete = (state: State, now: number, response: SipResponse): Step => ({
  state: { ...state, phase: "completed", last: response, deadlines: Transaction.arm(now, { J: state.timers.j }) },
  outputs: [Transaction.send(response)]
})

const { end, ignore, inform, repeat } = Transaction

// prettier-ignore
/** RFC 3261 figure 8: a row for each state, a column for each event. */
const table: Transaction.Table<State, Messages> = {
  trying: {
    request: ignore, provisional: proceed, final: complete, J: ignore, transportError: ignore
  },
  proceeding: {
    request: repeat, provisional: proceed, final: complete, J: ignore, transportError: inform
  },
  completed: {
    request: repeat, provisional: ignore, final: ignore, J: end, transportError: inform
  },
  terminated: {
    request: ignore, provisional: ignore, final: ignore, J: ignore, transportError: ignore
  }
}

const { take, takeOwn } = Transaction.machine<State, Messages>(table)

/** Passes the request to the TU without keeping it. */
export const start = (request: SipRequest, _now: number, timers: Timers.Timers = Timers.udp): Step => ({
  state: { phase: "trying", timers, deadlines: [], last: null },
  outputs: [Transaction.deliver(Responses.onBasis(request, Responses.basis(request)))]
})

export const step = (state: State, input: Input, now: number): Step => {
  switch (input.type) {
    case "request":
      return take(state, now, "request", input.request)
    case "respond":
      return take(state, now, input.response.status < 200 ? "provisional" : "final", input.response)
    case "due":
    case "transportError":
      return takeOwn(state, input, now)
  }
}
