import { type Outcome, unchanged } from "../../../runtime/actor/Machine.ts"
import type { CarrierEvent, Json } from "../../../carrier/Carrier.ts"
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
import * as Transfer from "./leg/Transfer.ts"
import * as Meter from "./Meter.ts"
import * as OnRoomEvent from "./room/OnRoomEvent.ts"
import type { StepContext } from "./StepContext.ts"

type Result = StepBuilder.StepBuilder | Outcome<never, never>

/**
 * The carrier's rows. They only lead forward: a late event changes nothing, except that the end of a leg settles the
 * command that waits for it.
 */
export const step = (state: CallState, event: CarrierEvent, context: StepContext): Result => {
  const leg = state.legs.find((candidate) => candidate.id === event.legId)
  if (leg === undefined || isLate(leg, event)) return unchanged
  const result = told(state, leg, event, context)
  return "type" in result || event.n === unnumbered
    ? result
    : StepBuilder.setLeg(result, leg.id, { incarnation: event.incarnation, heard: event.n, lost: null })
}

/** The number of events from a version that did not count them. */
const unnumbered = 0

/** Whether the event's number was applied before. Another incarnation of the carrier counts from one again. */
const isLate = (leg: Leg, event: CarrierEvent): boolean =>
  event.n !== unnumbered && event.incarnation === leg.incarnation && event.n <= leg.heard

/** When the event happened, in the call's time; null: it is late. */
export const timeOf = (state: CallState, event: CarrierEvent, context: StepContext): number | null => {
  const leg = state.legs.find((candidate) => candidate.id === event.legId)
  if (leg === undefined || isLate(leg, event)) return null
  return happened(leg, event.type === "media" && event.event.type === "dtmf" ? event.event.at : event.at, context)
}

const told = (state: CallState, leg: Leg, event: CarrierEvent, context: StepContext): Result => {
  if (event.type === "media") return media(state, leg, event, context)
  const at = happened(leg, event.at, context)
  // Work that outlives its leg may have been requested after the leg had ended.
  if (event.type === "command_failed" && (leg.gone || isTerminal(state) || !lives(leg)))
    return context.work.refused(StepBuilder.from(state), event.commandId, event.reason, at, context)
  if (leg.gone) return unchanged
  if (event.type === "ended" || event.type === "leaving") return legEnded(state, leg, event, at, context)
  if (isTerminal(state) || !lives(leg)) return unchanged
  const builder = StepBuilder.from(state)
  switch (event.type) {
    case "ringing":
    case "early_media":
      return ringing(builder, leg, event.resume, at, context)
    case "answered":
      return answered(builder, leg, event.resume, at, context)
    case "bridged":
      return Bridging.bridged(builder, leg, event, at, context)
    case "unbridged":
      return Bridging.unbridged(builder, leg, event, at, context)
    case "room_joined":
    case "room_left":
      return OnRoomEvent.told(builder, leg, event, at, context)
    case "referred":
      return Referral.told(builder, leg, event, at)
    case "command_failed": {
      const pending = state.pending.find(({ commandId }) => commandId === event.commandId)
      return pending === undefined
        ? context.work.refused(builder, event.commandId, event.reason, at, context)
        : failed(builder, leg, pending, event.reason, at, context)
    }
  }
}

/** The carrier could not carry out a command of call control. */
const failed = (
  builder: StepBuilder.StepBuilder,
  leg: Leg,
  pending: Pending,
  reason: string,
  at: number,
  context: StepContext
): StepBuilder.StepBuilder => {
  switch (pending.type) {
    case "dial":
      return leg.role === "primary"
        ? StepBuilder.settle(builder, (other) => other === pending)
        : LegOver.ended(
            builder,
            leg,
            { status: "failed", reason: "carrier_error", initiator: "carrier", why: "carrier_failed" },
            null,
            at,
            context
          )
    case "bridge":
      return Bridging.failed(builder, pending, reason === "unknown_leg" ? "leg_ended" : "carrier_error", at, context)
    case "refer":
      return Connecting.referFailed(builder, pending, { reason: "carrier_error", sipStatus: null }, at)
    case "join_room":
    case "leave_room":
      return OnRoomEvent.failed(builder, pending, reason, at, context)
    case "answer":
    case "hangup":
    case "unbridge":
      return StepBuilder.settle(builder, (other) => other === pending)
  }
}

const media = (
  state: CallState,
  leg: Leg,
  { at, event }: Extract<CarrierEvent, { readonly type: "media" }>,
  context: StepContext
): Result => {
  const builder = StepBuilder.from(state)
  switch (event.type) {
    case "dtmf":
      return leg.gone || !lives(leg) || isTerminal(state)
        ? unchanged
        : dtmf(builder, leg, event.digit, happened(leg, event.at, context), context)
    // This includes work that outlived its leg, even when the leg is gone and the call is over.
    case "ended":
      return context.work.told(builder, event, happened(leg, at, context), context)
    default:
      return context.work.heard(builder, event, happened(leg, at, context), context)
  }
}

/** Clamps the time of an event, because a carrier's clock may differ: not in the future, and not before the call. */
const happened = (leg: Leg, at: number, context: StepContext): number =>
  Math.min(context.now, Math.max(at, leg.answeredAt ?? leg.initiatedAt))

const remember = (builder: StepBuilder.StepBuilder, leg: Leg, resume: Json): StepBuilder.StepBuilder =>
  resume === null ? builder : StepBuilder.setLeg(builder, leg.id, { resume })

const ringing = (
  builder: StepBuilder.StepBuilder,
  leg: Leg,
  resume: Json,
  at: number,
  context: StepContext
): Result => {
  if (leg.status !== "initiated") {
    // A later provisional answer may come from another branch of the far end; a CANCEL must match the newest.
    return leg.status === "ringing" && resume !== null ? remember(builder, leg, resume) : unchanged
  }
  const next = remember(StepBuilder.setLeg(builder, leg.id, { status: "ringing" }), leg, resume)
  if (leg.role !== "primary" || builder.state.status !== "initiated") return next
  const told = StepBuilder.emit(StepBuilder.set(next, { status: "ringing" }), {
    type: "call.ringing",
    data: { ...StepBuilder.ids(builder.state, leg.id), ringingAt: at }
  })
  return context.work.starts(told, leg, "ringing", at, context)
}

const answered = (
  builder: StepBuilder.StepBuilder,
  leg: Leg,
  resume: Json,
  at: number,
  context: StepContext
): Result => {
  if (leg.answeredAt !== null) return resume === null ? unchanged : remember(builder, leg, resume)
  const next = StepBuilder.settle(
    remember(
      StepBuilder.set(StepBuilder.setLeg(builder, leg.id, { status: "answered", answeredAt: at }), {
        meters: Meter.answered(builder.state.meters, leg.id, at)
      }),
      leg,
      resume
    ),
    (pending) => pending.legId === leg.id && (pending.type === "dial" || pending.type === "answer")
  )
  if (leg.role !== "primary") return Transfer.answered(next, leg, context)
  const told = StepBuilder.emit(StepBuilder.set(next, { status: "answered", answeredAt: at }), {
    type: "call.answered",
    data: { ...StepBuilder.ids(builder.state, leg.id), answeredAt: at }
  })
  return OnRoomEvent.answered(context.work.starts(told, leg, "answered", at, context), context)
}

const dtmf = (builder: StepBuilder.StepBuilder, leg: Leg, digit: string, at: number, context: StepContext): Result => {
  const { state } = builder
  if (leg.answeredAt === null) return unchanged
  const heard = StepBuilder.emit(builder, {
    type: "call.dtmf",
    data: { ...StepBuilder.ids(state, leg.id), digit, receivedAt: at }
  })
  return context.work.digit(heard, leg, digit, at, context)
}

/** Handles a leg that has left, and perhaps waits for the answer to its BYE, or is gone. */
const legEnded = (
  state: CallState,
  leg: Leg,
  event: Extract<CarrierEvent, { readonly type: "ended" | "leaving" }>,
  at: number,
  context: StepContext
): StepBuilder.StepBuilder => {
  const resume = event.type === "leaving" ? (event.resume ?? leg.resume) : leg.resume
  const reported = StepBuilder.setLeg(StepBuilder.from(state), leg.id, {
    sipStatus: event.sipStatus,
    peerReason: event.peerReason ?? null,
    quality: event.quality ?? leg.quality,
    resume
  })
  const gone =
    event.type === "leaving"
      ? reported
      : StepBuilder.settle(
          StepBuilder.setLeg(reported, leg.id, { gone: true }),
          (pending) => pending.legId === leg.id && pending.type === "hangup"
        )
  if (isTerminal(state) || !lives(leg)) return leg.id === primary(state).id ? announce(gone) : gone
  const ending = EndReason.ofLeg(event, { direction: leg.direction, answered: leg.answeredAt !== null })
  return leg.id === primary(state).id
    ? end(gone, ending, at, context, { byFar: event.by === "far" && event.cause === "hangup", isMeasured: true })
    : LegOver.ended(gone, { ...leg, resume }, ending, event.sipStatus, at, context)
}
