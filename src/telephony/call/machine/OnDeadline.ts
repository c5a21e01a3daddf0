import { type Deadline, type Outcome, unchanged } from "../../../runtime/actor/Machine.ts"
import type { LegId } from "../../../domain/Id.ts"
import type * as CallInput from "./CallInput.ts"
import { type CallState, isTerminal, primary } from "./CallState.ts"
import * as StepBuilder from "./StepBuilder.ts"
import { announce, end } from "./CallEnding.ts"
import * as EndReason from "./EndReason.ts"
import * as Bridging from "./leg/Bridging.ts"
import * as Connecting from "./leg/Connecting.ts"
import { type Leg, lives } from "./leg/Leg.ts"
import * as LegOver from "./leg/LegOver.ts"
import type { Pending } from "./leg/Pending.ts"
import * as Referral from "./leg/Referral.ts"
import * as Reservation from "./Reservation.ts"
import * as OnRoomEvent from "./room/OnRoomEvent.ts"
import type { StepContext } from "./StepContext.ts"
import type { Activities } from "./Activities.ts"

/**
 * The deadlines of a call. A deadline takes effect at its own moment, however late its timer fires. So nothing is
 * charged for the delay, and a client's view does not depend on the load of this process.
 */

/** How long an inbound call may wait to be answered or rejected. */
const firstCommandMs = 30_000

/**
 * After 64*T1, SIP gives up a BYE (RFC 3261 section 17.1.2.2) and an answer without ACK (section 13.3.1.4). A carrier
 * that has not reported their outcome by then never will.
 */
const outcomeMs = 40_000

/** How long a call waits for a leg whose carrier cannot be asked; then the leg counts as gone. */
export const holdMs = 60_000

interface Due {
  readonly at: number
  readonly deadline: CallInput.Deadline
  /** The leg whose events are ordered with this deadline; null: every leg's. */
  readonly legId: LegId | null
}

const lostAt = ({ lost }: Leg): number | null => (lost === null ? null : lost.since + holdMs)

/** Every deadline that the state has, as data. */
const all = (state: CallState, work: Activities): ReadonlyArray<Due> => {
  const leg = primary(state)
  const always = [...work.dues(state).map((due) => ({ ...due, deadline: "work" as const })), ...hangups(state)]
  if (isTerminal(state))
    return state.announceBy === undefined
      ? always
      : [...always, { at: state.announceBy, deadline: "announce", legId: leg.id }]
  const living = state.legs.filter(lives)
  const lost = living.flatMap((each) => {
    const at = lostAt(each)
    return at === null ? [] : [{ at, deadline: "lost" as const, legId: each.id }]
  })
  // The fate of the call is unknown, so no bill ends meanwhile.
  if (leg.lost !== null) return lost
  return [
    ...lost,
    ...living.filter((each) => each.lost === null).flatMap((each) => ofLeg(state, each)),
    ...outcomes(state.pending),
    ...(state.answeredAt === null ? [] : exhausted(state)),
    ...always
  ]
}

/** The deadline of a leg: for its ringing, its first command, its answer, or its talk time. */
const ofLeg = (state: CallState, leg: Leg): ReadonlyArray<Due> => {
  const due = (deadline: CallInput.Deadline, at: number): ReadonlyArray<Due> => [{ at, deadline, legId: leg.id }]
  if (leg.answeredAt !== null) return due("limit", leg.answeredAt + leg.limit.afterSecs * 1000)
  if (leg.ringSecs !== null) return due("ring", leg.initiatedAt + leg.ringSecs * 1000)
  const answering = state.pending.find(({ legId, type }) => type === "answer" && legId === leg.id)
  return answering?.type === "answer"
    ? due("answer", answering.since + outcomeMs)
    : due("first_command", leg.initiatedAt + firstCommandMs)
}

const hangups = ({ legs, pending }: CallState): ReadonlyArray<Due> =>
  pending.flatMap((each) => {
    if (each.type !== "hangup") return []
    const leg = legs.find(({ id }) => id === each.legId)
    const lost = leg === undefined ? null : lostAt(leg)
    return [{ at: Math.max(each.since + outcomeMs, lost ?? 0), deadline: "hangup" as const, legId: each.legId }]
  })

/** By then a bridge, a room or a referral has its outcome, or never will. */
const outcomeAt = (pending: Pending): number | null => {
  switch (pending.type) {
    case "bridge":
    case "unbridge":
    case "join_room":
    case "leave_room":
      return pending.since + outcomeMs
    case "refer":
      return Referral.dueAt(pending)
    case "dial":
    case "answer":
    case "hangup":
      return null
  }
}

const outcomes = (pending: ReadonlyArray<Pending>): ReadonlyArray<Due> =>
  pending.flatMap((each) => {
    const at = outcomeAt(each)
    return at === null ? [] : [{ at, deadline: "outcome" as const, legId: each.legId }]
  })

/** The call's money is used up only when its account has refused to renew it. */
const exhausted = (state: CallState): ReadonlyArray<Due> => {
  const at = state.renewalRefusedAt === null ? null : Reservation.endsAt(state)
  return at === null ? [] : [{ at, deadline: "exhausted", legId: null }]
}

/** Whether the deadline ends the call, and so every leg of it. */
const endsCall = (state: CallState, { deadline, legId }: Due): boolean => {
  switch (deadline) {
    case "exhausted":
      return true
    case "ring":
    case "first_command":
    case "answer":
    case "limit":
    case "lost":
      return legId === primary(state).id
    case "work":
    case "outcome":
    case "hangup":
    case "announce":
      return false
  }
}

const nearestOf = (dues: ReadonlyArray<Due>): Due | null =>
  dues.reduce<Due | null>((best, each) => (best === null || each.at < best.at ? each : best), null)

const nearest = (state: CallState, work: Activities): Due | null => nearestOf(all(state, work))

/**
 * The next deadline, for which the actor waits. A renewal is due as a refusal: the shell asks the account first, and
 * puts its answer in that place.
 */
export const next = (state: CallState, work: Activities): Deadline<CallInput.CallInput> | null => {
  const due = nearest(state, work)
  const renewsAt = primary(state).lost === null ? Reservation.renewsAt(state) : null
  if (renewsAt !== null && (due === null || renewsAt < due.at))
    return { at: renewsAt, input: { type: "renewal", reservedMinutes: null } }
  return due === null ? null : { at: due.at, input: { type: "deadline", deadline: due.deadline } }
}

/** A deadline counts only if the state still has it. */
export const step = (
  state: CallState,
  input: Extract<CallInput.CallInput, { readonly type: "deadline" }>,
  context: StepContext
): StepBuilder.StepBuilder | Outcome<never, never> => {
  const due = nearestOf(all(state, context.work).filter(({ deadline }) => deadline === input.deadline))
  return due === null || due.at > context.now ? unchanged : fire(StepBuilder.from(state), due, context)
}

/**
 * Applies the deadlines before `at` in order, so that a late carrier event finds the call as it would have found it in
 * time. Null: nothing was due.
 *
 * Another leg's event may have happened in time and be reported later, so a deadline of that leg waits for the leg's
 * next event or its timer. A deadline that ends the call ends it for all legs, and so comes after all earlier
 * deadlines. `eventEndsCall`: the event itself ends the call.
 */
export const before = (
  state: CallState,
  legId: LegId,
  at: number,
  context: StepContext,
  eventEndsCall: boolean
): StepBuilder.StepBuilder | null => {
  // The event proves that the leg exists.
  let builder = StepBuilder.setLeg(StepBuilder.from(state), legId, { lost: null })
  let fired = false
  for (;;) {
    const { state: now } = builder
    const due = all(now, context.work).filter((each) => each.at < at)
    const last = eventEndsCall || due.some((each) => endsCall(now, each))
    const next = nearestOf(last ? due : due.filter((each) => each.legId === legId))
    if (next === null) return fired ? builder : null
    builder = fire(builder, next, context)
    fired = true
  }
}

const fire = (
  builder: StepBuilder.StepBuilder,
  { at, deadline, legId }: Due,
  context: StepContext
): StepBuilder.StepBuilder => {
  const { state } = builder
  const leg = state.legs.find(({ id }) => id === legId) ?? primary(state)
  const isOwn = leg.id === primary(state).id
  switch (deadline) {
    case "ring": {
      const timeout = { status: "failed", reason: "timeout", initiator: "system", why: "ring_timeout" } as const
      return isOwn ? end(builder, timeout, at, context) : LegOver.ended(builder, leg, timeout, null, at, context)
    }
    case "first_command":
      return end(
        builder,
        { status: "failed", reason: "no_answer", initiator: "system", why: "no_command" },
        at,
        context,
        {
          rejectCause: "no_answer"
        }
      )
    case "answer":
      return end(builder, EndReason.failing(state, "carrier_error", "answer_unreported"), at, context, {
        rejectCause: "error"
      })
    case "limit": {
      const limit = { status: "ended", reason: leg.limit.reason, initiator: "system", why: leg.limit.reason } as const
      return isOwn ? end(builder, limit, at, context) : LegOver.ended(builder, leg, limit, null, at, context)
    }
    case "exhausted":
      return end(
        builder,
        {
          status: "ended",
          reason: "balance_exhausted",
          initiator: "system",
          why: state.renewalRefusal ?? "balance_exhausted"
        },
        at,
        context
      )
    case "lost": {
      const endedAt = leg.lost?.at ?? at
      const failing = EndReason.failing(leg, "carrier_error", "carrier_unreachable")
      return isOwn
        ? end(builder, failing, endedAt, context, { rejectCause: "error", isMeasured: true })
        : LegOver.ended(builder, leg, failing, null, endedAt, context)
    }
    case "work":
      return context.work.due(builder, legId, at, context)
    case "outcome":
      return state.pending.reduce<StepBuilder.StepBuilder>((open, pending) => {
        const due = outcomeAt(pending)
        return due === null || due > at || pending.legId !== legId || !open.state.pending.includes(pending)
          ? open
          : never(open, pending, at, context)
      }, builder)
    case "announce":
      return announce(builder)
    case "hangup":
      return state.pending.reduce<StepBuilder.StepBuilder>(
        (open, pending) =>
          pending.type === "hangup" && pending.legId === legId && pending.since + outcomeMs <= at
            ? StepBuilder.settle(StepBuilder.setLeg(open, pending.legId, { gone: true }), (other) => other === pending)
            : open,
        builder
      )
  }
}

/** The outcome never came. */
const never = (
  builder: StepBuilder.StepBuilder,
  pending: Pending,
  at: number,
  context: StepContext
): StepBuilder.StepBuilder => {
  switch (pending.type) {
    case "bridge":
      return Bridging.failed(builder, pending, "timeout", at, context)
    case "refer":
      // The far end is connected elsewhere and does not hang up.
      return pending.completedAt === null
        ? Connecting.referFailed(builder, pending, { reason: "timeout", sipStatus: null }, at)
        : end(builder, EndReason.hungUp(builder.state, "api", "referred"), at, context)
    case "join_room":
    case "leave_room":
      return OnRoomEvent.failed(builder, pending, OnRoomEvent.timeout, at, context)
    case "unbridge":
    case "dial":
    case "answer":
    case "hangup":
      return StepBuilder.settle(builder, (other) => other === pending)
  }
}
