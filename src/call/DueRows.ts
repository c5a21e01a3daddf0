import { type Deadline, type Outcome, unchanged } from "../actor/Machine.ts"
import type * as CallInput from "./CallInput.ts"
import { type CallState, isTerminal, primary } from "./CallState.ts"
import * as Draft from "./Draft.ts"
import { end, failing } from "./Ending.ts"
import * as Reservation from "./Reservation.ts"
import type { StepContext } from "./StepContext.ts"
import type { Work } from "./Work.ts"

/**
 * What time does to a call. A deadline takes effect at its own moment, however late its timer comes. So nobody is
 * charged for the time in between, and what a client reads does not depend on how busy we were.
 */

/** An inbound call that nobody answers or rejects. */
const firstCommandMs = 30_000

/**
 * After 64*T1, SIP gives up a BYE (RFC 3261 section 17.1.2.2) and an answer without ACK (section 13.3.1.4). A carrier
 * that has not told their outcome by then never will.
 */
const outcomeMs = 40_000

/** For so long a call waits for a leg whose carrier cannot be asked; then the leg counts as gone. */
export const holdMs = 60_000

interface Due {
  readonly at: number
  readonly deadline: CallInput.Deadline
}

/** Every deadline that the state has, as data. */
const all = (state: CallState, work: Work): ReadonlyArray<Due> => {
  const leg = primary(state)
  const lost = leg.lost === null ? null : leg.lost.since + holdMs
  const dueAt = work.dueAt(state)
  const always = [
    ...(dueAt === null ? [] : [{ at: dueAt, deadline: "work" as const }]),
    ...state.pending.flatMap((pending) =>
      pending.type === "hangup"
        ? [{ at: Math.max(pending.since + outcomeMs, lost ?? 0), deadline: "hangup" as const }]
        : []
    )
  ]
  if (isTerminal(state)) return always
  // Nobody knows whether the call goes on, so no bill ends meanwhile.
  if (lost !== null) return [{ at: lost, deadline: "lost" as const }]
  if (state.answeredAt !== null)
    return [
      { at: state.answeredAt + leg.limit.afterSecs * 1000, deadline: "limit" as const },
      ...exhausted(state),
      ...always
    ]
  if (leg.ringSecs !== null)
    return [{ at: leg.initiatedAt + leg.ringSecs * 1000, deadline: "ring" as const }, ...always]
  const answering = state.pending.find((pending) => pending.type === "answer")
  return answering === undefined
    ? [{ at: state.initiatedAt + firstCommandMs, deadline: "first_command" as const }, ...always]
    : [{ at: answering.since + outcomeMs, deadline: "answer" as const }, ...always]
}

/** The money of a call is used up only when its account has refused more of it. */
const exhausted = (state: CallState): ReadonlyArray<Due> => {
  const at = state.renewalRefusedAt === null ? null : Reservation.endsAt(state)
  return at === null ? [] : [{ at, deadline: "exhausted" as const }]
}

const nearest = (state: CallState, work: Work): Due | null =>
  all(state, work).reduce<Due | null>((best, each) => (best === null || each.at < best.at ? each : best), null)

/**
 * The next deadline, for which the actor waits. A renewal is due as refused: the shell asks the account first, and puts
 * its answer in that place.
 */
export const next = (state: CallState, work: Work): Deadline<CallInput.CallInput> | null => {
  const due = nearest(state, work)
  const renewsAt = primary(state).lost === null ? Reservation.renewsAt(state) : null
  if (renewsAt !== null && (due === null || renewsAt < due.at))
    return { at: renewsAt, input: { type: "renewal", reservedMinutes: null } }
  return due === null ? null : { at: due.at, input: { type: "deadline", deadline: due.deadline } }
}

/** A deadline counts only if the state still has it; one that was overtaken changes nothing. */
export const step = (
  state: CallState,
  input: Extract<CallInput.CallInput, { readonly type: "deadline" }>,
  context: StepContext
): Draft.Draft | Outcome<never, never> => {
  const due = all(state, context.work).find(({ deadline }) => deadline === input.deadline)
  return due === undefined || due.at > context.now ? unchanged : fire(Draft.from(state), due, context)
}

/**
 * What was due before `at`, in the order of its times: a carrier's event that comes late finds the call as it would
 * have found it in time. Null: nothing was due.
 */
export const before = (state: CallState, at: number, context: StepContext): Draft.Draft | null => {
  // An event says that the leg is there.
  let draft = Draft.setLeg(Draft.from(state), primary(state).id, { lost: null })
  let fired = false
  for (
    let due = nearest(draft.state, context.work);
    due !== null && due.at < at;
    due = nearest(draft.state, context.work)
  ) {
    draft = fire(draft, due, context)
    fired = true
  }
  return fired ? draft : null
}

const fire = (draft: Draft.Draft, { at, deadline }: Due, context: StepContext): Draft.Draft => {
  const { state } = draft
  switch (deadline) {
    case "ring":
      return end(draft, { status: "failed", reason: "timeout", initiator: "system" }, at, context)
    case "first_command":
      return end(draft, { status: "failed", reason: "no_answer", initiator: "system" }, at, context, {
        rejectCause: "no_answer"
      })
    case "answer":
      return end(draft, failing(state, "carrier_error"), at, context, { rejectCause: "error" })
    case "limit":
      return end(draft, { status: "ended", reason: primary(state).limit.reason, initiator: "system" }, at, context)
    case "exhausted":
      return end(draft, { status: "ended", reason: "balance_exhausted", initiator: "system" }, at, context)
    case "lost":
      return end(draft, failing(state, "carrier_error"), primary(state).lost?.at ?? at, context, {
        rejectCause: "error"
      })
    case "work":
      return context.work.due(draft, at)
    case "hangup":
      return state.pending.reduce<Draft.Draft>(
        (open, pending) =>
          pending.type === "hangup" && pending.since + outcomeMs <= at
            ? Draft.settle(Draft.setLeg(open, pending.legId, { gone: true }), (other) => other === pending)
            : open,
        draft
      )
  }
}
