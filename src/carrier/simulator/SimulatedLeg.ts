import type { Admission, LegEnd, RejectCause } from "../Carrier.ts"
import * as SipStatus from "../SipStatus.ts"
import type { FarAct, PhoneScript, Step } from "./PhoneScript.ts"

/** A simulated leg, seen from our side: its phase, and the acts that its phone still has to do. */
export interface SimulatedLeg {
  readonly direction: "outbound" | "inbound"
  readonly phase: "alerting" | "talking" | "over"
  readonly rang: boolean
  /** Whether its media were connected before the answer. */
  readonly isEarly: boolean
  /** The phone's remaining acts, by ascending `at`, which is on the monotonic clock. */
  readonly agenda: ReadonlyArray<{ readonly at: number; readonly act: FarAct }>
  /** The acts that begin with the answer. */
  readonly talking: ReadonlyArray<Step>
}

export type Input =
  /** Commands of the call. */
  | { readonly type: "ring" }
  | { readonly type: "answer" }
  | { readonly type: "reject"; readonly cause: RejectCause }
  | { readonly type: "hangup" }
  /** The far party of a joined leg acted. */
  | { readonly type: "far"; readonly act: FarAct }
  /** The next act of the phone may be due. */
  | { readonly type: "due" }
  /** The leg cannot be kept: it has no media, or more work than there is room for. */
  | { readonly type: "fault" }

export type Outcome =
  | { readonly type: "ringing" }
  /** Connect the media, then report the early media. */
  | { readonly type: "early" }
  /**
   * Connect the media unless they are connected, then report the answer. Later outcomes follow only when both worked.
   */
  | { readonly type: "talk" }
  /** Pass the act on to the far party if that is a leg; a phone ignores it. */
  | { readonly type: "pass"; readonly act: FarAct }
  /** The leg has ended, which is its last outcome and happens once. */
  | { readonly type: "over"; readonly end: LegEnd }

interface Stepped {
  readonly leg: SimulatedLeg
  readonly outcomes: ReadonlyArray<Outcome>
}

const scheduled = (steps: ReadonlyArray<Step>, now: number) =>
  steps.map(({ act, afterMs }) => ({ at: now + afterMs, act }))

/** A leg that begins now; without a script its far party is another leg. */
export const make = (direction: SimulatedLeg["direction"], script: PhoneScript | null, now: number): SimulatedLeg => ({
  direction,
  phase: "alerting",
  rang: false,
  isEarly: false,
  agenda: scheduled(script?.alerting ?? [], now),
  talking: script?.talking ?? []
})

/** The end of a caller whose callee was not admitted. A number without an owner has no route. */
export const refusalOf = (cause: Extract<Admission, { readonly admitted: false }>["cause"]): LegEnd =>
  cause === "not_found"
    ? { cause: "no_route", sipStatus: null, by: "network" }
    : { cause: "final_response", sipStatus: SipStatus.of(cause), by: "far" }

/** The end as the other party sees it. */
export const mirrored = (end: LegEnd): LegEnd =>
  end.by === "network" ? end : { ...end, by: end.by === "near" ? "far" : "near" }

const over = (leg: SimulatedLeg, end: LegEnd): Stepped => ({
  leg: { ...leg, phase: "over", agenda: [] },
  outcomes: [{ type: "over", end }]
})

/** When we end the leg, the far party sees the mirror image. */
const endedHere = (leg: SimulatedLeg, end: LegEnd): Stepped => {
  const { leg: ended, outcomes } = over(leg, end)
  return { leg: ended, outcomes: [{ type: "pass", act: { type: "ends", end: mirrored(end) } }, ...outcomes] }
}

const talk = (leg: SimulatedLeg, now: number, ...outcomes: ReadonlyArray<Outcome>): Stepped => ({
  leg: { ...leg, phase: "talking", agenda: scheduled(leg.talking, now) },
  outcomes: [{ type: "talk" }, ...outcomes]
})

const stay = (leg: SimulatedLeg): Stepped => ({ leg, outcomes: [] })

/** A hangup of an unanswered leg is a CANCEL on the caller's side and a final answer on the callee's. */
const hangup = (leg: SimulatedLeg, cause: RejectCause): Stepped => {
  if (leg.phase === "talking") return endedHere(leg, { cause: "hangup", sipStatus: null, by: "near" })
  return endedHere(
    leg,
    leg.direction === "outbound"
      ? { cause: "cancelled", sipStatus: 487, by: "near" }
      : { cause: "final_response", sipStatus: SipStatus.of(cause), by: "near" }
  )
}

const far = (leg: SimulatedLeg, act: FarAct, now: number): Stepped => {
  switch (act.type) {
    case "rings":
      if (leg.direction === "inbound" || leg.phase !== "alerting" || leg.rang) return stay(leg)
      return { leg: { ...leg, rang: true }, outcomes: [{ type: "ringing" }] }
    case "sends_early_media":
      if (leg.direction === "inbound" || leg.phase !== "alerting" || leg.isEarly) return stay(leg)
      return { leg: { ...leg, isEarly: true }, outcomes: [{ type: "early" }] }
    case "answers":
      return leg.direction === "outbound" && leg.phase === "alerting" ? talk(leg, now) : stay(leg)
    case "ends":
      return over(leg, act.end)
  }
}

/** Handles each input to a leg. A leg that is over does nothing more. */
export const step = (leg: SimulatedLeg, input: Input, now: number): Stepped => {
  if (leg.phase === "over") return stay(leg)
  const offered = leg.direction === "inbound" && leg.phase === "alerting"
  switch (input.type) {
    case "ring":
      return offered ? { leg, outcomes: [{ type: "pass", act: { type: "rings" } }] } : stay(leg)
    case "answer":
      return offered ? talk(leg, now, { type: "pass", act: { type: "answers" } }) : stay(leg)
    case "reject":
      return hangup(leg, input.cause)
    case "hangup":
      return hangup(leg, "no_answer")
    case "far":
      return far(leg, input.act, now)
    case "due": {
      const [next, ...agenda] = leg.agenda
      return next === undefined || next.at > now ? stay(leg) : far({ ...leg, agenda }, next.act, now)
    }
    case "fault":
      return endedHere(leg, { cause: "error", sipStatus: null, by: "network" })
  }
}
