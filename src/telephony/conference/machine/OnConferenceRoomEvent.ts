import { type Outcome, type StepContext, unchanged } from "../../../runtime/actor/Machine.ts"
import type { RoomEvent } from "../../../carrier/room/Rooms.ts"
import type * as Id from "../../../domain/Id.ts"
import * as ConferenceClosing from "./ConferenceClosing.ts"
import { type ConferenceState, isCompleted, isSeated, type Member } from "./ConferenceState.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"
import * as Leaving from "./Leaving.ts"
import * as RoomPlaybacks from "./RoomPlaybacks.ts"
import * as RoomRecordings from "./RoomRecordings.ts"
import * as RoomMembers from "./RoomMembers.ts"

/** Events of the room. */
type Result = ConferenceStepBuilder.ConferenceStepBuilder | Outcome<never, never>

/** The number of events that are outside the room's numbering. */
const unnumbered = 0

export const step = (state: ConferenceState, event: RoomEvent, context: StepContext): Result => {
  const { heard } = state
  if (event.n !== unnumbered && heard?.incarnation === event.incarnation && event.n <= heard.n) return unchanged
  const builder =
    event.n === unnumbered
      ? ConferenceStepBuilder.from(state)
      : ConferenceStepBuilder.from({ ...state, heard: { incarnation: event.incarnation, n: event.n }, lostAt: null })
  // An event's time is clamped to between the beginning of the conference and now.
  const at = Math.min(Math.max(event.at, state.createdAt), context.now)
  return row(builder, event, at, context)
}

const row = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  event: RoomEvent,
  at: number,
  context: StepContext
): Result => {
  const { state } = builder
  switch (event.type) {
    case "live":
      if (state.room !== "asked") return unchanged
      return RoomMembers.start(
        ConferenceStepBuilder.set(
          ConferenceStepBuilder.settle(builder, ({ type }) => type === "create"),
          { room: "live" }
        ),
        at
      )
    case "over":
      return over(builder, at, context)
    case "member_joined":
      return joined(builder, event, at, context)
    case "member_left": {
      const settled = ConferenceStepBuilder.settle(
        builder,
        (pending) => pending.type === "remove" && pending.memberId === event.memberId
      )
      const member = ConferenceStepBuilder.member(settled, event.memberId)
      if (member !== undefined && isSeated(member)) return Leaving.left(settled, member, at, context)
      return settled.state.pending === state.pending ? unchanged : settled
    }
    case "member_muted":
      return muted(
        ConferenceStepBuilder.settle(
          builder,
          (pending) => isMute(pending, event.memberId) && pending.isMuted === event.isMuted
        ),
        event.memberId,
        event.isMuted
      )
    case "member_held":
      return held(
        ConferenceStepBuilder.settle(
          builder,
          (pending) => isHold(pending, event.memberId) && pending.isHeld === event.isHeld
        ),
        event.memberId,
        event.isHeld,
        at,
        context
      )
    case "member_supervises":
      return ConferenceStepBuilder.settle(
        builder,
        (pending) => pending.type === "supervise" && pending.memberId === event.memberId
      )
    case "member_speaking":
      return speaking(builder, event.memberId, event.isSpeaking)
    case "media": {
      const { event: told } = event
      const ofRecording = RoomRecordings.told(builder, told, at)
      return "type" in ofRecording && told.type === "ended" ? RoomPlaybacks.told(builder, told, at) : ofRecording
    }
    case "command_failed":
      return failed(builder, event, at, context)
  }
}

type Pending = ConferenceState["pending"][number]
const isMute = (pending: Pending, memberId: Id.MemberId): pending is Extract<Pending, { readonly type: "mute" }> =>
  pending.type === "mute" && pending.memberId === memberId
const isHold = (pending: Pending, memberId: Id.MemberId): pending is Extract<Pending, { readonly type: "hold" }> =>
  pending.type === "hold" && pending.memberId === memberId

const present = (builder: ConferenceStepBuilder.ConferenceStepBuilder, id: Id.MemberId): Member | null => {
  const member = ConferenceStepBuilder.member(builder, id)
  return member?.phase === "joined" ? member : null
}

/** The room is gone with all its members, or it was never created. */
const over = (builder: ConferenceStepBuilder.ConferenceStepBuilder, at: number, context: StepContext): Result => {
  const { room } = builder.state
  if (room === "over") return unchanged
  const gone = ConferenceStepBuilder.set(builder, { room: "over", pending: [] })
  return isCompleted(gone.state)
    ? gone
    : ConferenceClosing.close(gone, "system", at, context, room === "asked" ? "never_stood" : "stood")
}

/** Seats a leg that has entered the room. A leg without a seat is removed again. */
const joined = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  { legId, memberId }: Extract<RoomEvent, { readonly type: "member_joined" }>,
  at: number,
  context: StepContext
): Result => {
  if (isCompleted(builder.state)) return unchanged
  const member = ConferenceStepBuilder.member(builder, memberId)
  if (member === undefined || !isSeated(member))
    return ConferenceStepBuilder.askPending(builder, { type: "remove", memberId }, context)
  return member.phase === "joined" ? unchanged : RoomMembers.joined(builder, member, legId, at, context)
}

export const muted = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  id: Id.MemberId,
  isMuted: boolean
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const member = present(builder, id)
  if (member === null || member.isMuted === isMuted) return builder
  const quiet = isMuted ? RoomMembers.silent(builder, member) : builder
  return ConferenceStepBuilder.emit(ConferenceStepBuilder.setMember(quiet, id, { isMuted }), {
    type: isMuted ? "conference.member_muted" : "conference.member_unmuted",
    data: { conferenceId: builder.state.id, memberId: id, callId: member.callId }
  })
}

/** Puts a member on hold or takes it off, without an event. */
export const held = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  id: Id.MemberId,
  isHeld: boolean,
  at: number,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const member = present(builder, id)
  if (member === null || member.isHeld === isHeld) return builder
  const quiet = isHeld ? RoomMembers.silent(builder, member) : builder
  return Leaving.closeWithoutUnheld(ConferenceStepBuilder.setMember(quiet, id, { isHeld }), at, context)
}

const speaking = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  id: Id.MemberId,
  isSpeaking: boolean
): Result => {
  const member = present(builder, id)
  if (member === null || member.isSpeaking === isSpeaking) return unchanged
  return isSpeaking
    ? ConferenceStepBuilder.emit(ConferenceStepBuilder.setMember(builder, id, { isSpeaking }), {
        type: "conference.member_speaking_started",
        data: { conferenceId: builder.state.id, memberId: id, callId: member.callId }
      })
    : RoomMembers.silent(builder, member)
}

/** The carrier could not carry out a command. Its request was already answered; the flags show the true state. */
const failed = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  { commandId, reason }: Extract<RoomEvent, { readonly type: "command_failed" }>,
  at: number,
  context: StepContext
): Result => {
  const pending = builder.state.pending.find((other) => other.commandId === commandId)
  if (pending === undefined) {
    const ofRecording = RoomRecordings.refused(builder, commandId, reason, at)
    return "type" in ofRecording ? RoomPlaybacks.refused(builder, commandId, reason, at) : ofRecording
  }
  // There is no room, or none that can be ended.
  if (pending.type === "create" || pending.type === "end") return over(builder, at, context)
  return ConferenceStepBuilder.settle(builder, (other) => other === pending)
}
