import { accepted, type Deadline, type Machine, type Outcome, rejected, unchanged } from "../actor/Machine.ts"
import { rejection } from "../domain/ErrorCatalogue.ts"
import * as Id from "../domain/Id.ts"
import * as ActionRows from "./ActionRows.ts"
import type { CallInput } from "./CallInput.ts"
import { type CallState, isTerminal, type Leg, primary } from "./CallState.ts"
import * as CarrierRows from "./CarrierRows.ts"
import * as Draft from "./Draft.ts"
import { end } from "./Ending.ts"
import * as Meter from "./Meter.ts"
import * as RecoveryRows from "./RecoveryRows.ts"
import type { StepContext } from "./StepContext.ts"
import { built, type Rows } from "./verb/Verbs.ts"
import * as Work from "./Work.ts"

/**
 * The life of a call: a pure table from state and input to the next state, its public events, the commands
 * to the carrier and the charge.
 *
 * Terminal states absorb: a late input only settles what was pending, or outlived the call. The rows of the API, the carrier and recovery
 * stand in their own files.
 */
export type { Effects } from "./Draft.ts"

export const machineVersion = 2

/** An inbound call that nobody answers or rejects. */
export const firstCommandMs = 30_000

/**
 * SIP gives up a BYE (RFC 3261 section 17.1.2.2) and an answer without ACK (section 13.3.1.4) after 64*T1; a carrier
 * that has not told their outcome by then never will.
 */
export const outcomeMs = 40_000

type Result = Draft.Draft | Outcome<never, never>

const decide = (state: CallState | null, input: CallInput, context: StepContext): Result => {
  if (state === null) {
    switch (input.type) {
      case "place":
        return place(input, context)
      case "offered":
        return offered(input, context)
      case "action":
        return rejected(rejection("not_found", "no such call"))
      case "carrier":
      case "deadline":
      case "recovered":
      case "faulted":
      case "ended_by_system":
        return unchanged
    }
  }
  switch (input.type) {
    case "place":
    case "offered":
      return unchanged
    case "action":
      return ActionRows.step(state, input.action, context)
    case "carrier":
      return CarrierRows.step(state, input.event, context)
    case "deadline":
      return due(state, input, context)
    case "recovered":
      return RecoveryRows.step(state, input, context)
    case "faulted":
      return isTerminal(state)
        ? unchanged
        : end(Draft.from(state), failing(state, "carrier_error"), context.now, context, { rejectCause: "error" })
    case "ended_by_system":
      return isTerminal(state)
        ? unchanged
        : end(Draft.from(state), failing(state, input.reason), context.now, context, { rejectCause: input.rejectCause })
  }
}

const failing = (state: CallState, reason: "carrier_error" | "tenant_suspended") =>
  ({ status: state.answeredAt === null ? "failed" : "ended", reason, initiator: "system" }) as const

const started = (
  input: Extract<CallInput, { readonly type: "place" | "offered" }>,
  context: StepContext,
  legId: string,
  dialId: string | null
): Draft.Draft => {
  const direction = input.type === "place" ? "outbound" : "inbound"
  const { terms } = input
  const leg: Leg = {
    id: legId,
    role: "primary",
    direction,
    from: input.from,
    to: input.to,
    status: "initiated",
    initiatedAt: context.now,
    answeredAt: null,
    endedAt: null,
    endReason: null,
    endInitiator: null,
    ringSecs: input.type === "place" ? input.timeoutSecs : null,
    limit: terms.limit,
    resume: input.type === "offered" ? input.resume : null,
    dialId,
    gone: false
  }
  const state: CallState = {
    id: terms.callId,
    timeOffsetMs: terms.timeOffsetMs,
    tenantId: terms.tenantId,
    direction,
    status: "initiated",
    from: input.from,
    to: input.to,
    routeId: terms.routeId,
    adapter: terms.adapter,
    customerReference: input.type === "place" ? input.customerReference : null,
    initiatedAt: context.now,
    answeredAt: null,
    endedAt: null,
    endReason: null,
    endInitiator: null,
    meters: [Meter.ofLeg(leg, terms.microUsdPerMinute)],
    ratingStatus: "pending",
    costCents: null,
    legs: [leg],
    pending: [],
    work: [],
    outliving: [],
    sequence: 0,
    told: 0,
    seq: 0,
    at: context.now
  }
  return Draft.emit(Draft.from(state), {
    type: "call.started",
    data: { ...Draft.ids(state, legId), from: input.from, to: input.to, direction, route_id: terms.routeId }
  })
}

const place = (input: Extract<CallInput, { readonly type: "place" }>, context: StepContext): Draft.Draft => {
  const commandId = Draft.commandId(context)
  const draft = started(input, context, Id.derive(context.seed, "leg"), commandId)
  const { state } = draft
  const legId = primary(state).id
  return Draft.sendPending(
    draft,
    { type: "dial", commandId, legId },
    {
      type: "dial",
      commandId,
      callId: state.id,
      legId,
      tenantId: state.tenantId,
      routeId: state.routeId,
      from: input.from,
      to: input.to
    }
  )
}

const offered = (input: Extract<CallInput, { readonly type: "offered" }>, context: StepContext): Draft.Draft => {
  const draft = started(input, context, input.legId, null)
  return Draft.send(draft, {
    type: "ring",
    commandId: Draft.commandId(context),
    callId: draft.state.id,
    legId: input.legId
  })
}

/** A deadline counts only if the state still has it: one that was overtaken changes nothing. */
const due = (
  state: CallState,
  input: Extract<CallInput, { readonly type: "deadline" }>,
  context: StepContext
): Result => {
  const next = deadlines(state, context.work).find((candidate) => candidate.deadline === input.deadline)
  if (next === undefined || next.at > context.now) return unchanged
  const draft = Draft.from(state)
  switch (input.deadline) {
    case "ring":
      return end(draft, { status: "failed", reason: "timeout", initiator: "system" }, context.now, context)
    case "first_command":
      return end(draft, { status: "failed", reason: "no_answer", initiator: "system" }, context.now, context, {
        rejectCause: "no_answer"
      })
    case "answer":
      return end(draft, failing(state, "carrier_error"), context.now, context, { rejectCause: "error" })
    case "limit":
      // At the limit, not when the timer came: a millisecond later a further minute would have begun.
      return end(draft, { status: "ended", reason: primary(state).limit.reason, initiator: "system" }, next.at, context)
    case "work":
      return context.work.due(draft, context.now)
    case "hangup":
      return state.pending.reduce<Draft.Draft>(
        (open, pending) =>
          pending.type === "hangup" && pending.since + outcomeMs <= context.now
            ? Draft.settle(Draft.setLeg(open, pending.legId, { gone: true }), (other) => other === pending)
            : open,
        draft
      )
  }
}

/** Every deadline that the state has, as data; the actor waits for the nearest. */
const deadlines = (
  state: CallState,
  work: Work.Work
): ReadonlyArray<{
  readonly at: number
  readonly deadline: Extract<CallInput, { readonly type: "deadline" }>["deadline"]
}> => {
  const dueAt = work.dueAt(state)
  const always = [
    ...(dueAt === null ? [] : [{ at: dueAt, deadline: "work" as const }]),
    ...state.pending.flatMap((pending) =>
      pending.type === "hangup" ? [{ at: pending.since + outcomeMs, deadline: "hangup" as const }] : []
    )
  ]
  if (isTerminal(state)) return always
  const leg = primary(state)
  if (state.answeredAt !== null)
    return [{ at: state.answeredAt + leg.limit.afterSecs * 1000, deadline: "limit" as const }, ...always]
  if (leg.ringSecs !== null)
    return [{ at: leg.initiatedAt + leg.ringSecs * 1000, deadline: "ring" as const }, ...always]
  const answering = state.pending.find((pending) => pending.type === "answer")
  return answering === undefined
    ? [{ at: state.initiatedAt + firstCommandMs, deadline: "first_command" as const }, ...always]
    : [{ at: answering.since + outcomeMs, deadline: "answer" as const }, ...always]
}

const nearest = (state: CallState, work: Work.Work): Deadline<CallInput> | null => {
  const all = deadlines(state, work)
  const first = all.reduce<(typeof all)[number] | null>(
    (best, each) => (best === null || each.at < best.at ? each : best),
    null
  )
  return first === null ? null : { at: first.at, input: { type: "deadline", deadline: first.deadline } }
}

export const isSettled = (state: CallState): boolean =>
  isTerminal(state) &&
  state.ratingStatus !== "pending" &&
  state.pending.length === 0 &&
  state.work.length === 0 &&
  state.outliving.length === 0

/** The machine over a table of verbs. */
export const over = (verbs: Rows): Machine<CallState, CallInput, Draft.Effects> => {
  const work = Work.make(verbs)
  return {
    step: (state, input, moment) => {
      const result = decide(state, input, { ...moment, work })
      if ("_tag" in result) return result
      const { chargeCents, commands, events, tells } = result
      return accepted(
        {
          ...result.state,
          seq: (state?.seq ?? 0) + 1,
          sequence: (state?.sequence ?? 0) + events.length,
          at: moment.now
        },
        { events, commands, chargeCents, tells }
      )
    },
    nextDeadline: (state) => nearest(state, work),
    isSettled
  }
}

export const machine = over(built)
export const { nextDeadline, step } = machine
