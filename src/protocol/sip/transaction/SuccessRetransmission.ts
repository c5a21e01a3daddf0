/**
 * Repeats the 2xx of a user agent server to INVITE, RFC 3261 section 13.3.1.4: after T1, doubling up to T2, until the
 * ACK arrives or 64*T1 has passed. Without an ACK the shell ends the session with BYE.
 *
 * The first copy is sent through the transaction, and the later copies too, because the Accepted state lets a 2xx pass.
 * It runs on reliable transports too, because the ACK is end to end.
 */
import * as MessageKey from "../message/MessageKey.ts"
import type { SipRequest, SipResponse } from "../message/SipMessage.ts"
import * as Timers from "./Timers.ts"
import * as Transaction from "./Transaction.ts"

type Timer = "retransmit" | "giveUp"

export interface State {
  readonly phase: "unacknowledged" | "terminated"
  readonly response: SipResponse
  readonly timers: Timers.Timers
  readonly deadlines: ReadonlyArray<Transaction.Deadline<Timer>>
  readonly intervalMs: number
}

/** An ACK of the same dialog; `step` checks that its CSeq number is that of the INVITE. */
export type Input = { readonly type: "ack"; readonly request: SipRequest } | Transaction.Due

export type Step = Transaction.Step<State>

/** Starts with the 2xx that was sent at `now`. */
export const start = (response: SipResponse, now: number, timers: Timers.Timers = Timers.udp): Step => ({
  state: {
    phase: "unacknowledged",
    response,
    timers,
    deadlines: Transaction.arm(now, { retransmit: timers.t1, giveUp: 64 * timers.t1 }),
    intervalMs: timers.t1
  },
  outputs: []
})

const end = (state: State, outputs: ReadonlyArray<Transaction.Output>): Step => ({
  state: { ...state, phase: "terminated", deadlines: [] },
  outputs: [...outputs, Transaction.terminated]
})

/** Outputs `failed: timeout` when no ACK arrived. */
export const step = (state: State, input: Input, now: number): Step => {
  const same = { state, outputs: [] }
  if (state.phase === "terminated") return same
  if (input.type === "ack")
    return MessageKey.cseq(input.request)?.sequence === MessageKey.cseq(state.response)?.sequence
      ? end(state, [])
      : same
  switch (Transaction.due(state.deadlines, now)) {
    case null:
      return same
    case "giveUp":
      return end(state, [Transaction.failed("timeout")])
    case "retransmit":
      return Transaction.resend(
        state,
        "retransmit",
        { at: now, intervalMs: Math.min(state.intervalMs * 2, state.timers.t2) },
        state.response
      )
  }
}
