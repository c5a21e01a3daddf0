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

export type Phase = "trying" | "proceeding" | "completed" | "terminated"
export type Timer = "J"

export interface State {
  readonly phase: Phase
  readonly timers: Timers.Timers
  readonly deadlines: ReadonlyArray<Transaction.Deadline<Timer>>
  /** The response that a repeated request gets. */
  readonly last: SipResponse | null
}

export type Input =
  | { readonly type: "request"; readonly request: SipRequest }
  | { readonly type: "respond"; readonly response: SipResponse }
  | Transaction.Due
  | Transaction.TransportError

type Step = Transaction.Step<State>

interface Events {
  readonly request: SipRequest
  readonly provisional: SipResponse
  readonly final: SipResponse
  readonly J: undefined
  readonly transportError: undefined
}
type Transition<Carried> = (state: State, now: number, carried: Carried) => Step
type Row = { readonly [Event in keyof Events]: Transition<Events[Event]> }

const ignore = (state: State): Step => ({ state, outputs: [] })

const repeat = (state: State): Step => ({
  state,
  outputs: state.last === null ? [] : [Transaction.send(state.last)]
})

const proceed = (state: State, _now: number, response: SipResponse): Step => ({
  state: { ...state, phase: "proceeding", last: response },
  outputs: [Transaction.send(response)]
})

const complete = (state: State, now: number, response: SipResponse): Step => ({
  state: { ...state, phase: "completed", last: response, deadlines: Transaction.arm(now, { J: state.timers.j }) },
  outputs: [Transaction.send(response)]
})

const inform = (state: State): Step => ({ state, outputs: [Transaction.failed("transport")] })

const end = (state: State): Step => ({
  state: { ...state, phase: "terminated", deadlines: [] },
  outputs: [Transaction.terminated]
})

// prettier-ignore
/** RFC 3261 figure 8: a row for each state, a column for each event. */
const table: { readonly [P in Phase]: Row } = {
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

const take = <Event extends keyof Events>(state: State, now: number, event: Event, carried: Events[Event]): Step =>
  table[state.phase][event](state, now, carried)

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
    case "due": {
      const timer = Transaction.due(state.deadlines, now)
      return timer === null ? ignore(state) : take(state, now, timer, undefined)
    }
    case "transportError":
      return take(state, now, "transportError", undefined)
  }
}

export const deadlines = (state: State): ReadonlyArray<Transaction.Deadline<Timer>> => state.deadlines
