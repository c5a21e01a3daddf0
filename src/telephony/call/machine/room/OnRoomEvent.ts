import { type Outcome, unchanged } from "../../../../runtime/actor/Machine.ts"
import { entryOf } from "../../../../ports/media/MemberChange.ts"
import type { CarrierEvent } from "../../../../carrier/Carrier.ts"
import type { CallInput } from "../CallInput.ts"
import { type CallState, isTerminal, primary } from "../CallState.ts"
import * as StepBuilder from "../StepBuilder.ts"
import { end } from "../CallEnding.ts"
import * as EndReason from "../EndReason.ts"
import * as Bridging from "../leg/Bridging.ts"
import type { Leg } from "../leg/Leg.ts"
import type * as Pending from "../leg/Pending.ts"
import * as Meter from "../Meter.ts"
import * as Reservation from "../Reservation.ts"
import type { StepContext } from "../StepContext.ts"
import type { ToCall } from "./RoomTell.ts"
import * as RoomAnswer from "./RoomAnswer.ts"
import type { CallMember } from "./CallMember.ts"
import * as Membership from "./Membership.ts"

/**
 * A call and the room of a conference, guide/calls.md#conferences. The conference gives the call a membership; the call
 * alone sends its leg there and takes it out again; the carrier reports when it is in and when it no longer is. The
 * messages of the call to its conference follow from its commits (`RoomAnswer`).
 */
type Result = StepBuilder.StepBuilder | Outcome<never, never>
type Told = Extract<CallInput, { readonly type: "told" }>
type RoomEvent = Extract<CarrierEvent, { readonly type: "room_joined" | "room_left" }>

/** A late or repeated message changes nothing. */
export const step = (state: CallState, { reservedMinutes = [], tell }: Told, context: StepContext): Result => {
  switch (tell.type) {
    case "enter":
      return reservedMinutes === null ? unchanged : enter(state, tell, reservedMinutes, context)
    case "over":
      return over(state, tell, context)
  }
}

const over = (state: CallState, tell: Extract<ToCall, { readonly type: "over" }>, context: StepContext): Result => {
  const { letGo, room } = state
  if (isTerminal(state) || (room?.memberId !== tell.memberId && letGo !== tell.memberId)) return unchanged
  const builder = StepBuilder.from(state)
  if (tell.neverStood === true && room?.wasDialled !== true)
    return StepBuilder.set(Membership.over(builder, context.now), { letGo: null })
  return end(
    builder,
    tell.isRemoved === true
      ? EndReason.hungUp(state, tell.by, "removed_from_conference")
      : { status: "ended", reason: "conference_ended", initiator: tell.by, why: "conference_ended" },
    context.now,
    context,
    {}
  )
}

const enter = (
  before: CallState,
  tell: Extract<ToCall, { readonly type: "enter" }>,
  reservedMinutes: ReadonlyArray<number>,
  context: StepContext
): Result => {
  const meter = RoomAnswer.meterOf(before, tell)
  if (meter === null) return unchanged
  const state = Reservation.held(before, reservedMinutes)
  const alone = Bridging.alone(
    StepBuilder.from({
      ...state,
      meters: [...state.meters, { ...meter, reservedMinutes: reservedMinutes[state.meters.length] ?? 0 }]
    }),
    context.now,
    context
  )
  const membership = { conferenceId: tell.conferenceId, ...entryOf(tell), wasDialled: false }
  return join(alone, { ...membership, phase: "entering", since: context.now }, context)
}

/** Sends the call's own leg to the room. */
const join = (builder: StepBuilder.StepBuilder, room: CallMember, context: StepContext): StepBuilder.StepBuilder => {
  const { state } = builder
  const legId = primary(state).id
  const commandId = StepBuilder.nextCommandId(builder, context)
  const membership = { conferenceId: room.conferenceId, ...entryOf(room) }
  return StepBuilder.sendPending(
    StepBuilder.set(builder, { room, letGo: null }),
    { type: "join_room", commandId, legId, since: context.now, ...membership },
    { type: "join_room", commandId, callId: state.id, legId, ...membership }
  )
}

/** Takes the membership that the call was dialled for, once it is answered. */
export const answered = (builder: StepBuilder.StepBuilder, context: StepContext): StepBuilder.StepBuilder => {
  const { room } = builder.state
  return room?.phase === "dialled"
    ? join(builder, { ...room, phase: "entering", since: context.now }, context)
    : builder
}

/** Sends the leg again, because another carrier incarnation has it and it is unknown whether it is in the room. */
export const again = (builder: StepBuilder.StepBuilder, context: StepContext): StepBuilder.StepBuilder => {
  const { pending, room } = builder.state
  return room?.phase === "in" && !pending.some(({ type }) => type === "join_room")
    ? join(builder, room, context)
    : builder
}

/** Takes the call's own leg out of its room, because it is wanted elsewhere. */
export const leave = (builder: StepBuilder.StepBuilder, at: number, context: StepContext): StepBuilder.StepBuilder => {
  const { room } = builder.state
  return room === null ? builder : takeOut(Membership.over(builder, at), room, context)
}

const takeOut = (
  builder: StepBuilder.StepBuilder,
  { conferenceId, memberId }: CallMember,
  context: StepContext
): StepBuilder.StepBuilder => {
  const { state } = builder
  const legId = primary(state).id
  const commandId = StepBuilder.nextCommandId(builder, context)
  return StepBuilder.sendPending(
    builder,
    { type: "leave_room", commandId, legId, since: context.now, conferenceId, memberId },
    { type: "leave_room", commandId, callId: state.id, legId }
  )
}

export const told = (
  builder: StepBuilder.StepBuilder,
  leg: Leg,
  event: RoomEvent,
  at: number,
  context: StepContext
): Result => {
  const { memberId } = event
  const settled = StepBuilder.settle(
    builder,
    (pending) =>
      (pending.type === "join_room" || (pending.type === "leave_room" && event.type === "room_left")) &&
      pending.memberId === memberId
  )
  const same = settled === builder ? unchanged : settled
  const { room } = builder.state
  if (room === null || room.memberId !== memberId) return same
  switch (event.type) {
    case "room_joined":
      return room.phase === "in" ? same : joined(settled, leg, room, at)
    case "room_left":
      return out(settled, room, "left", at, context)
  }
}

const joined = (builder: StepBuilder.StepBuilder, leg: Leg, room: CallMember, at: number): StepBuilder.StepBuilder => {
  const { meters } = builder.state
  const there = StepBuilder.set(StepBuilder.setLeg(builder, leg.id, { status: "bridged", bridge: null }), {
    status: "bridged",
    room: { ...room, phase: "in", since: at },
    meters: Meter.workBegan(meters, room.memberId, at)
  })
  return StepBuilder.emit(there, {
    type: "call.bridged",
    data: {
      ...StepBuilder.ids(builder.state, leg.id),
      bridgedCallId: null,
      bridgedLegId: null,
      conferenceId: room.conferenceId,
      bridgedAt: at
    }
  })
}

/** The reasons of carriers for a room that is gone, or that refuses a member. */
const closed = ["left", "removed", "unknown_room"]

/** Handles a leg that is not in the room. A call that was dialled for the room and never entered ends. */
const out = (
  builder: StepBuilder.StepBuilder,
  room: CallMember,
  why: string,
  at: number,
  context: StepContext
): StepBuilder.StepBuilder =>
  room.wasDialled && room.phase !== "in"
    ? end(
        builder,
        closed.includes(why)
          ? { status: "ended", reason: "conference_ended", initiator: "system", why: "conference_ended" }
          : EndReason.failing(builder.state, "carrier_error", "conference_unreachable"),
        at,
        context
      )
    : StepBuilder.set(Membership.over(builder, at), { letGo: room.memberId })

/** The reason for a command whose outcome never came. */
export const timeout = "timeout"

/** Handles a command that the carrier could not carry out, or whose outcome is overdue. */
export const failed = (
  builder: StepBuilder.StepBuilder,
  pending: Pending.Of<"join_room" | "leave_room">,
  why: string,
  at: number,
  context: StepContext
): StepBuilder.StepBuilder => {
  const settled = StepBuilder.settle(builder, (other) => other === pending)
  const { room } = settled.state
  if (pending.type === "leave_room" || room === null || room.memberId !== pending.memberId) return settled
  const left = out(settled, room, why, at, context)
  // The leg may still enter, and must leave then.
  return why !== timeout || isTerminal(left.state) ? left : takeOut(left, room, context)
}
