import { type Outcome, type StepContext, unchanged } from "../../../runtime/actor/Machine.ts"
import type { RoomEvent } from "../../../carrier/room/Rooms.ts"
import type * as Id from "../../../domain/Id.ts"
import * as ConferenceClosing from "./ConferenceClosing.ts"
import { type ConferenceState, isCompleted, isPresent } from "./ConferenceState.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"
import * as MemberChanges from "./MemberChanges.ts"
import * as RoomPlaybacks from "./RoomPlaybacks.ts"
import * as RoomRecordings from "./RoomRecordings.ts"
import * as RoomMembers from "./RoomMembers.ts"

/** Events of the room. */
type Result = ConferenceStepBuilder.ConferenceStepBuilder | Outcome<never, never>

/** The number of events that are outside the room's numbering. */
const unnumbered = 0

/** Applies the events in their order. One that changes nothing is skipped. */
export const step = (state: ConferenceState, events: ReadonlyArray<RoomEvent>, context: StepContext): Result => {
  const before = ConferenceStepBuilder.from(state)
  const after = events.reduce((builder, event) => {
    const result = apply(builder, event, context)
    return "type" in result ? builder : result
  }, before)
  return after === before ? unchanged : after
}

const apply = (before: ConferenceStepBuilder.ConferenceStepBuilder, event: RoomEvent, context: StepContext): Result => {
  const { createdAt, heard } = before.state
  if (event.n !== unnumbered && heard?.incarnation === event.incarnation && event.n <= heard.n) return unchanged
  const builder =
    event.n === unnumbered
      ? before
      : ConferenceStepBuilder.set(before, { heard: { incarnation: event.incarnation, n: event.n }, lostAt: null })
  // An event's time is clamped to between the beginning of the conference and now.
  const at = Math.min(Math.max(event.at, createdAt), context.now)
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
        at,
        context
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
      if (member === undefined || !isPresent(member))
        return settled.state.pending === state.pending ? unchanged : settled
      return ConferenceClosing.left(settled, member, RoomMembers.reasonOf(state, event), at, context)
    }
    case "member_muted":
    case "member_held":
    case "member_supervises":
      return MemberChanges.told(builder, event.memberId, event, at, context)
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

/** The room is gone with all its members, or it was never created. */
const over = (builder: ConferenceStepBuilder.ConferenceStepBuilder, at: number, context: StepContext): Result => {
  const { room } = builder.state
  if (room === "over") return unchanged
  const gone = ConferenceStepBuilder.set(builder, { room: "over", pending: [] })
  return isCompleted(gone.state)
    ? gone
    : ConferenceClosing.close(gone, "carrier", at, context, room === "asked" ? "never_stood" : "stood")
}

/** Gives a membership to a leg that has entered the room. A leg without a membership is removed again. */
const joined = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  { legId, memberId }: Extract<RoomEvent, { readonly type: "member_joined" }>,
  at: number,
  context: StepContext
): Result => {
  if (isCompleted(builder.state)) return unchanged
  const member = ConferenceStepBuilder.member(builder, memberId)
  if (member === undefined || !isPresent(member))
    return ConferenceStepBuilder.askPending(builder, { type: "remove", memberId }, context)
  return member.phase === "joined" ? unchanged : RoomMembers.joined(builder, member, legId, at, context)
}

const speaking = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  id: Id.MemberId,
  isSpeaking: boolean
): Result => {
  const member = ConferenceStepBuilder.present(builder, id)
  if (member === null || member.isSpeaking === isSpeaking) return unchanged
  return isSpeaking
    ? ConferenceStepBuilder.emit(ConferenceStepBuilder.setMember(builder, id, { isSpeaking }), {
        type: "conference.member_speaking_started",
        data: RoomMembers.ofMember(builder.state, member)
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
