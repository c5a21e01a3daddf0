import { accepted, type Machine, type Outcome, rejected, unchanged } from "../../../runtime/actor/Machine.ts"
import { settingsOf } from "../../../ports/media/MemberChange.ts"
import type { CarrierEvent } from "../../../carrier/Carrier.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import * as OnAction from "./OnAction.ts"
import type { CallInput } from "./CallInput.ts"
import { type CallState, isTerminal, primary } from "./CallState.ts"
import * as OnCarrierEvent from "./OnCarrierEvent.ts"
import * as StepBuilder from "./StepBuilder.ts"
import * as OnDeadline from "./OnDeadline.ts"
import { end } from "./CallEnding.ts"
import * as EndReason from "./EndReason.ts"
import * as Leg from "./leg/Leg.ts"
import * as Meter from "./Meter.ts"
import * as Increments from "../../../domain/price/Increments.ts"
import * as CallSetup from "./CallSetup.ts"
import * as OnRecovery from "./OnRecovery.ts"
import * as Reservation from "./Reservation.ts"
import * as OnRoomEvent from "./room/OnRoomEvent.ts"
import type { StepContext } from "./StepContext.ts"
import { table, type Rows } from "../verb/CallVerbs.ts"
import * as Activities from "./Activities.ts"

/**
 * The life of a call: a pure table from state and input to the next state, its public events, the commands to the
 * carrier and the charge.
 *
 * Terminal states absorb: a late input only settles pending commands, or work that outlived the call. The rows of the
 * API, the carrier and recovery are in files of their own.
 */
export type { Effects } from "./StepBuilder.ts"

export const machineVersion = 6

type Result = StepBuilder.StepBuilder | Outcome<never, never>

const decide = (state: CallState | null, input: CallInput, context: StepContext): Result => {
  if (state === null) {
    switch (input.type) {
      case "place":
        return place(input, context)
      case "offered":
        return offered(input, context)
      case "action":
        return rejected(ApiError.of("not_found", "no such call"))
      case "carrier":
      case "deadline":
      case "told":
      case "renewal":
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
      return OnAction.step(state, input, context)
    case "carrier":
      return heard(state, input.event, context)
    case "deadline":
      return OnDeadline.step(state, input, context)
    case "told":
      return OnRoomEvent.step(state, input, context)
    case "renewal":
      return Reservation.renewed(state, input, context.now)
    case "recovered":
      return OnRecovery.step(state, input, context)
    case "faulted":
      return isTerminal(state)
        ? unchanged
        : end(
            StepBuilder.from(state),
            EndReason.failing(state, "carrier_error", "service_fault"),
            context.now,
            context,
            {
              rejectCause: "error",
              isMeasured: true
            }
          )
    case "ended_by_system":
      if (isTerminal(state))
        // Only the operator waits for an answer.
        return input.by === "operator" ? rejected(OnAction.alreadyEnded) : unchanged
      return end(StepBuilder.from(state), bySystem(state, input.reason), context.now, context, {
        rejectCause: input.rejectCause
      })
  }
}

const bySystem = (
  state: CallState,
  reason: Extract<CallInput, { readonly type: "ended_by_system" }>["reason"]
): EndReason.Ending => {
  switch (reason) {
    case "hung_up":
      return EndReason.hungUp(state, "system", "operator_hung_up")
    case "tenant_suspended":
      return EndReason.failing(state, reason, "tenant_suspended")
    case "carrier_error":
      return EndReason.failing(state, reason, "service_stopped")
  }
}

/**
 * An event finds its leg as it was when the event happened: earlier deadlines of the leg take effect first, in the same
 * commit. An event that ends the call comes after the earlier deadlines of all legs.
 */
const heard = (state: CallState, event: CarrierEvent, context: StepContext): Result => {
  const at = OnCarrierEvent.timeOf(state, event, context)
  if (at === null) return OnCarrierEvent.step(state, event, context)
  const result = behind(OnDeadline.before(state, event.legId, at, context, false), state, event, context)
  return "type" in result || isTerminal(state) || !isTerminal(result.state)
    ? result
    : behind(OnDeadline.before(state, event.legId, at, context, true), state, event, context)
}

const behind = (
  before: StepBuilder.StepBuilder | null,
  state: CallState,
  event: CarrierEvent,
  context: StepContext
): Result => {
  if (before === null) return OnCarrierEvent.step(state, event, context)
  // The event is a step of its own, so that its commands get other ids than those of the deadlines.
  const result = OnCarrierEvent.step(before.state, event, { ...context, seed: Id.deriveOpaque(context.seed, "event") })
  return "type" in result ? before : StepBuilder.after(before, result)
}

const started = (
  input: Extract<CallInput, { readonly type: "place" | "offered" }>,
  context: StepContext,
  legId: Id.LegId,
  dialId: Id.CommandId | null
): StepBuilder.StepBuilder => {
  const direction = input.type === "place" ? "outbound" : "inbound"
  const { terms } = input
  const membership = input.type === "place" ? (input.seat ?? null) : null
  const caller = input.type === "offered" ? input.caller : undefined
  const leg = Leg.started(
    {
      id: legId,
      role: "primary",
      direction,
      from: input.from,
      to: input.to,
      ringSecs: input.type === "place" ? input.timeoutSecs : null,
      limit: terms.limit,
      resume: input.type === "offered" ? input.resume : null,
      dialId,
      incarnation: terms.incarnation
    },
    context.now
  )
  const state: CallState = {
    id: terms.callId,
    timeOffsetMs: terms.timeOffsetMs,
    tenantId: terms.tenantId,
    direction,
    status: "initiated",
    from: input.from,
    to: input.to,
    ...(caller === undefined ? {} : { caller }),
    routeId: terms.routeId,
    adapter: terms.adapter,
    customerReference: input.type === "place" ? input.customerReference : null,
    initiatedAt: context.now,
    answeredAt: null,
    endedAt: null,
    endReason: null,
    endInitiator: null,
    meters: [
      Meter.ofLeg(leg, terms, Increments.ofMinutes(terms, terms.reservedMinutes)),
      // An inbound call reserves for the work that it begins by itself only when it is answered.
      ...(input.type === "offered" ? [] : CallSetup.kinds(terms.plan)).map((kind) =>
        Meter.ofWork(kind, leg, terms.prices[kind], terms.reservedMinutes)
      ),
      ...(membership === null
        ? []
        : [Meter.ofStay(membership.memberId, leg, terms.prices.conference, membership.reservedMinutes)])
    ],
    prices: terms.prices,
    plan: terms.plan,
    renewalRefusedAt: null,
    ratingStatus: "pending",
    costCents: null,
    legs: [leg],
    pending: [],
    work: [],
    outliving: [],
    room:
      membership === null
        ? null
        : {
            conferenceId: membership.conferenceId,
            memberId: membership.memberId,
            phase: "dialled",
            since: context.now,
            wasDialled: true,
            isHost: false,
            isMuted: membership.isMuted ?? false,
            isHeld: membership.isHeld ?? false,
            ...settingsOf(membership)
          },
    letGo: null,
    ...(terms.rules === undefined ? {} : { rules: terms.rules }),
    sequence: 0,
    told: 0,
    seq: 0,
    at: context.now
  }
  return StepBuilder.emit(StepBuilder.from(state), {
    type: "call.started",
    data: {
      ...StepBuilder.ids(state, legId),
      from: input.from,
      to: input.to,
      direction,
      routeId: terms.routeId,
      customHeaders: input.type === "offered" ? (input.headers ?? []) : [],
      // A replay of an input without these facts gives the event that was sent then.
      ...caller
    }
  })
}

const place = (
  input: Extract<CallInput, { readonly type: "place" }>,
  context: StepContext
): StepBuilder.StepBuilder => {
  const commandId = StepBuilder.commandId(context)
  const { options = {} } = input
  const builder = started(input, context, input.seat?.legId ?? Id.derive(context.seed, "leg"), commandId)
  const { state } = builder
  const legId = primary(state).id
  return StepBuilder.sendPending(
    builder,
    { type: "dial", commandId, legId, options },
    {
      type: "dial",
      commandId,
      callId: state.id,
      legId,
      tenantId: state.tenantId,
      routeId: state.routeId,
      from: input.from,
      to: input.to,
      ...options
    }
  )
}

const offered = (
  input: Extract<CallInput, { readonly type: "offered" }>,
  context: StepContext
): StepBuilder.StepBuilder => {
  const builder = started(input, context, input.legId, null)
  return StepBuilder.send(builder, {
    type: "ring",
    commandId: StepBuilder.commandId(context),
    callId: builder.state.id,
    legId: input.legId
  })
}

export const isSettled = (state: CallState): boolean =>
  isTerminal(state) &&
  state.ratingStatus !== "pending" &&
  state.announceBy === undefined &&
  state.pending.length === 0 &&
  state.work.length === 0 &&
  state.outliving.length === 0

/** The machine for a table of verbs. */
export const over = (verbs: Rows): Machine<CallState, CallInput, StepBuilder.Effects> => {
  const work = Activities.make(verbs)
  return {
    step: (state, input, moment) => {
      const result = decide(state, input, { ...moment, work })
      if ("type" in result) return result
      const { state: _, ...effects } = result
      return accepted(
        {
          ...result.state,
          seq: (state?.seq ?? 0) + 1,
          sequence: (state?.sequence ?? 0) + effects.events.length,
          at: moment.now
        },
        effects
      )
    },
    nextDeadline: (state) => OnDeadline.next(state, work),
    isSettled
  }
}

export const machine = over(table)
export const { nextDeadline, step } = machine
