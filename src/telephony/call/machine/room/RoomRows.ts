import { type Outcome, unchanged } from "../../../../runtime/actor/Machine.ts"
import type { CarrierEvent } from "../../../../carrier/Carrier.ts"
import type { CallInput } from "../CallInput.ts"
import { type CallState, isTerminal, primary } from "../CallState.ts"
import * as Draft from "../Draft.ts"
import { end } from "../Ending.ts"
import * as EndReason from "../EndReason.ts"
import * as Bridging from "../leg/Bridging.ts"
import type { Leg } from "../leg/Leg.ts"
import type * as Pending from "../leg/Pending.ts"
import * as Meter from "../Meter.ts"
import * as Reservation from "../Reservation.ts"
import type { StepContext } from "../StepContext.ts"
import type { ToCall } from "./RoomTell.ts"
import * as RoomAnswer from "./RoomAnswer.ts"
import type { Room } from "./Room.ts"
import * as Stay from "./Stay.ts"

/**
 * A call and the room of a conference, guide/calls.md#conferences. The conference gives the call a seat; the call alone
 * sends its leg there and takes it out again; the carrier reports when it is in and when it no longer is. The messages
 * of the call to its conference follow from its commits (`RoomAnswer`).
 */
type Result = Draft.Draft | Outcome<never, never>
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
  const draft = Draft.from(state)
  if (tell.neverStood === true && room?.wasDialled !== true)
    return Draft.set(Stay.over(draft, context.now), { letGo: null })
  return end(
    draft,
    tell.isRemoved === true
      ? EndReason.hungUp(state, tell.by)
      : { status: "ended", reason: "conference_ended", initiator: tell.by },
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
  const { conferenceId, isHeld, isHost, isMuted, memberId } = tell
  const alone = Bridging.alone(
    Draft.from({
      ...state,
      meters: [...state.meters, { ...meter, reservedMinutes: reservedMinutes[state.meters.length] ?? 0 }]
    }),
    context.now,
    context
  )
  const seat = { conferenceId, memberId, isHost, isMuted, isHeld, wasDialled: false }
  return join(alone, { ...seat, phase: "entering", since: context.now }, context)
}

/** Sends the call's own leg to the room. */
const join = (draft: Draft.Draft, room: Room, context: StepContext): Draft.Draft => {
  const { state } = draft
  const legId = primary(state).id
  const commandId = Draft.nextCommandId(draft, context)
  const { conferenceId, isHeld, isHost, isMuted, memberId } = room
  const seat = { conferenceId, memberId, isHost, isMuted, isHeld }
  return Draft.sendPending(
    Draft.set(draft, { room, letGo: null }),
    { type: "join_room", commandId, legId, since: context.now, ...seat },
    { type: "join_room", commandId, callId: state.id, legId, ...seat }
  )
}

/** Takes the seat that the call was dialled for, once it is answered. */
export const answered = (draft: Draft.Draft, context: StepContext): Draft.Draft => {
  const { room } = draft.state
  return room?.phase === "dialled" ? join(draft, { ...room, phase: "entering", since: context.now }, context) : draft
}

/** Sends the leg again, because another carrier incarnation has it and it is unknown whether it is in the room. */
export const again = (draft: Draft.Draft, context: StepContext): Draft.Draft => {
  const { pending, room } = draft.state
  return room?.phase === "in" && !pending.some(({ type }) => type === "join_room") ? join(draft, room, context) : draft
}

/** Takes the call's own leg out of its room, because it is wanted elsewhere. */
export const leave = (draft: Draft.Draft, at: number, context: StepContext): Draft.Draft => {
  const { room } = draft.state
  return room === null ? draft : takeOut(Stay.over(draft, at), room, context)
}

const takeOut = (draft: Draft.Draft, { conferenceId, memberId }: Room, context: StepContext): Draft.Draft => {
  const { state } = draft
  const legId = primary(state).id
  const commandId = Draft.nextCommandId(draft, context)
  return Draft.sendPending(
    draft,
    { type: "leave_room", commandId, legId, since: context.now, conferenceId, memberId },
    { type: "leave_room", commandId, callId: state.id, legId }
  )
}

export const told = (draft: Draft.Draft, leg: Leg, event: RoomEvent, at: number, context: StepContext): Result => {
  const { memberId } = event
  const settled = Draft.settle(
    draft,
    (pending) =>
      (pending.type === "join_room" || (pending.type === "leave_room" && event.type === "room_left")) &&
      pending.memberId === memberId
  )
  const same = settled === draft ? unchanged : settled
  const { room } = draft.state
  if (room === null || room.memberId !== memberId) return same
  switch (event.type) {
    case "room_joined":
      return room.phase === "in" ? same : joined(settled, leg, room, at)
    case "room_left":
      return out(settled, room, "left", at, context)
  }
}

const joined = (draft: Draft.Draft, leg: Leg, room: Room, at: number): Draft.Draft => {
  const { meters } = draft.state
  const there = Draft.set(Draft.setLeg(draft, leg.id, { status: "bridged", bridge: null }), {
    status: "bridged",
    room: { ...room, phase: "in", since: at },
    meters: Meter.workBegan(meters, room.memberId, at)
  })
  return Draft.emit(there, {
    type: "call.bridged",
    data: {
      ...Draft.ids(draft.state, leg.id),
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
const out = (draft: Draft.Draft, room: Room, why: string, at: number, context: StepContext): Draft.Draft =>
  room.wasDialled && room.phase !== "in"
    ? end(
        draft,
        closed.includes(why)
          ? { status: "ended", reason: "conference_ended", initiator: "system" }
          : EndReason.failing(draft.state, "carrier_error"),
        at,
        context
      )
    : Draft.set(Stay.over(draft, at), { letGo: room.memberId })

/** The reason for a command whose outcome never came. */
export const timeout = "timeout"

/** Handles a command that the carrier could not carry out, or whose outcome is overdue. */
export const failed = (
  draft: Draft.Draft,
  pending: Pending.Of<"join_room" | "leave_room">,
  why: string,
  at: number,
  context: StepContext
): Draft.Draft => {
  const settled = Draft.settle(draft, (other) => other === pending)
  const { room } = settled.state
  if (pending.type === "leave_room" || room === null || room.memberId !== pending.memberId) return settled
  const left = out(settled, room, why, at, context)
  // The leg may still enter, and must leave then.
  return why !== timeout || isTerminal(left.state) ? left : takeOut(left, room, context)
}
