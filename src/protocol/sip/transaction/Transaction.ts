/**
 * The common part of the four transaction machines, RFC 3261 section 17: steps, outputs and deadlines as data.
 *
 * A machine owns no clock and no socket. Its shell sends the message of `send`, passes the other outputs to the
 * transaction user (TU), and calls `step` with `{ type: "due" }` when the earliest deadline is due: the machine knows
 * which one that is. Nothing happens before its time, so that a shell may be late, early or repeat itself.
 */
import type { SipMessage } from "../message/SipMessage.ts"

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
