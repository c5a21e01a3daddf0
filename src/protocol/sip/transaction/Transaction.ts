/**
 * The common part of the four transaction machines, RFC 3261 section 17: steps, outputs and deadlines as data, and the
 * actions that their tables share.
 *
 * A machine owns no clock and no socket. Its shell sends the message of `send`, passes the other outputs to the
 * transaction user (TU), and calls `step` with `{ type: "due" }` when the earliest deadline is due: the machine knows
 * which one that is. Nothing happens before its time, so that a shell may be late, early or repeat itself.
 */
import type { SipMessage, SipResponse } from "../message/SipMessage.ts"
import type { Timers } from "./Timers.ts"

export type Output =
  /** A message to the peer of this transaction. */
  | { readonly type: "send"; readonly message: SipMessage }
  /** A message to the TU. */
  | { readonly type: "deliver"; readonly message: SipMessage }
  /**
   * Reports to the TU that no answer came in time, or that the transport refused. Ends the transaction only where
   * `terminated` follows.
   */
  | { readonly type: "failed"; readonly reason: FailureReason }
  /** The last output: the state may be dropped. */
  | { readonly type: "terminated" }

export type FailureReason = "timeout" | "transport"

/** The part of the state that all machines have. */
export interface State<Phase extends string, Timer extends string> {
  readonly phase: Phase
  readonly timers: Timers
  readonly deadlines: ReadonlyArray<Deadline<Timer>>
}

type AnyState = State<string, string>

export interface Step<State> {
  readonly state: State
  readonly outputs: ReadonlyArray<Output>
}

/** A timer by its letter and the absolute millisecond at which it is due. */
export interface Deadline<Timer extends string = string> {
  readonly timer: Timer
  readonly at: number
}

export type TransportError = { readonly type: "transportError" }
/** The earliest deadline is due. */
export type Due = { readonly type: "due" }

export const send = (message: SipMessage): Output => ({ type: "send", message })
export const deliver = (message: SipMessage): Output => ({ type: "deliver", message })
export const failed = (reason: FailureReason): Output => ({ type: "failed", reason })
export const terminated: Output = { type: "terminated" }

/** Deadlines `after` milliseconds from `now`; a timer that never runs leaves none. */
export const arm = <Timer extends string>(
  now: number,
  after: Readonly<Partial<Record<Timer, number>>>
): ReadonlyArray<Deadline<Timer>> => {
  const deadlines: Array<Deadline<Timer>> = []
  for (const timer in after) {
    const ms = after[timer]
    if (ms !== undefined && ms < Infinity) deadlines.push({ timer, at: now + ms })
  }
  return deadlines
}

/** The same deadlines with one timer set again. */
export const rearm = <Timer extends string>(
  deadlines: ReadonlyArray<Deadline<Timer>>,
  timer: Timer,
  at: number
): ReadonlyArray<Deadline<Timer>> => [...deadlines.filter((deadline) => deadline.timer !== timer), { timer, at }]

/** The earliest deadline; `null` when none runs. */
export const earliest = <Timer extends string>(deadlines: ReadonlyArray<Deadline<Timer>>): Deadline<Timer> | null => {
  let first: Deadline<Timer> | null = null
  for (const deadline of deadlines) if (first === null || deadline.at < first.at) first = deadline
  return first
}

/** The timer to fire now: the earliest, if its time has come. */
export const due = <Timer extends string>(deadlines: ReadonlyArray<Deadline<Timer>>, now: number): Timer | null => {
  const first = earliest(deadlines)
  return first !== null && first.at <= now ? first.timer : null
}

/** The letters of the timers of a machine. */
type TimerOf<S extends AnyState> = S["deadlines"][number]["timer"]

type Action<S, Carried> = (state: S, now: number, carried: Carried) => Step<S>

type OnMessage<S, Messages> = { readonly [Event in keyof Messages]: Action<S, Messages[Event]> }
type OnOwn<S extends AnyState> = { readonly [Event in TimerOf<S> | "transportError"]: Action<S, undefined> }

/** A row for each phase, a column for each event: the messages, the timers, and a refused send. */
export type Table<S extends AnyState, Messages> = {
  readonly [Phase in S["phase"]]: OnMessage<S, Messages> & OnOwn<S>
}

/** Takes the action that the table has for an event in the present phase. */
export const machine = <S extends AnyState, Messages>(table: Table<S, Messages>) => ({
  take: <Event extends keyof Messages>(state: S, now: number, event: Event, carried: Messages[Event]): Step<S> => {
    const row: OnMessage<S, Messages> = table[state.phase as S["phase"]]
    return row[event](state, now, carried)
  },
  /** Takes the timer that is due, or the refusal of the transport. */
  takeOwn: (state: S, input: Due | TransportError, now: number): Step<S> => {
    const row: OnOwn<S> = table[state.phase as S["phase"]]
    if (input.type === "transportError") return row.transportError(state, now, undefined)
    const timer = due<TimerOf<S>>(state.deadlines, now)
    return timer === null ? ignore(state) : row[timer](state, now, undefined)
  }
})

export const ignore = <S>(state: S): Step<S> => ({ state, outputs: [] })

export const pass = <S>(state: S, _now: number, message: SipMessage): Step<S> => ({
  state,
  outputs: [deliver(message)]
})

/** Sends the last response again, if there is one. */
export const repeat = <S extends { readonly last: SipResponse | null }>(state: S): Step<S> => ({
  state,
  outputs: state.last === null ? [] : [send(state.last)]
})

/** Sends the message of `timer` again, and the next time after `intervalMs`. */
export const resend = <S extends AnyState & { readonly intervalMs: number }>(
  state: S,
  timer: TimerOf<S>,
  { at, intervalMs }: { readonly at: number; readonly intervalMs: number },
  message: SipMessage | null
): Step<S> => ({
  state: { ...state, intervalMs, deadlines: rearm(state.deadlines, timer, at + intervalMs) },
  outputs: message === null ? [] : [send(message)]
})

/** Reports a refused send, and leaves the state unchanged. */
export const inform = <S>(state: S): Step<S> => ({ state, outputs: [failed("transport")] })

export const end = <S extends AnyState>(state: S): Step<S> => ({
  state: { ...state, phase: "terminated", deadlines: [] },
  outputs: [terminated]
})

const fail =
  (reason: FailureReason) =>
  <S extends AnyState>(state: S): Step<S> => ({ ...end(state), outputs: [failed(reason), terminated] })

export const timeout = fail("timeout")
export const refuse = fail("transport")
