import { type Outcome, type StepContext, unchanged } from "../../../runtime/actor/Machine.ts"
import type { RoomEvent } from "../../../carrier/room/Rooms.ts"
import type * as Id from "../../../domain/Id.ts"
import * as Closing from "./Closing.ts"
import { type ConferenceState, isCompleted, isSeated, type Member } from "./ConferenceState.ts"
import * as Draft from "./Draft.ts"
import * as Leaving from "./Leaving.ts"
import * as Playbacks from "./Playbacks.ts"
import * as Recordings from "./Recordings.ts"
import * as Seats from "./Seats.ts"

/** Events of the room. */
type Result = Draft.Draft | Outcome<never, never>

/** The number of events that are outside the room's numbering. */
const unnumbered = 0

export const step = (state: ConferenceState, event: RoomEvent, context: StepContext): Result => {
  const { heard } = state
  if (event.n !== unnumbered && heard?.incarnation === event.incarnation && event.n <= heard.n) return unchanged
  const draft =
    event.n === unnumbered
      ? Draft.from(state)
      : Draft.from({ ...state, heard: { incarnation: event.incarnation, n: event.n }, lostAt: null })
  // An event's time is clamped to between the beginning of the conference and now.
  const at = Math.min(Math.max(event.at, state.createdAt), context.now)
  return row(draft, event, at, context)
}

const row = (draft: Draft.Draft, event: RoomEvent, at: number, context: StepContext): Result => {
  const { state } = draft
  switch (event.type) {
    case "live":
      if (state.room !== "asked") return unchanged
      return Seats.start(
        Draft.set(
          Draft.settle(draft, ({ type }) => type === "create"),
          { room: "live" }
        ),
        at
      )
    case "over":
      return over(draft, at, context)
    case "member_joined":
      return joined(draft, event, at, context)
    case "member_left": {
      const settled = Draft.settle(draft, (pending) => pending.type === "remove" && pending.memberId === event.memberId)
      const member = Draft.member(settled, event.memberId)
      if (member !== undefined && isSeated(member)) return Leaving.left(settled, member, at, context)
      return settled.state.pending === state.pending ? unchanged : settled
    }
    case "member_muted":
      return muted(
        Draft.settle(draft, (pending) => isMute(pending, event.memberId) && pending.isMuted === event.isMuted),
        event.memberId,
        event.isMuted
      )
    case "member_held":
      return held(
        Draft.settle(draft, (pending) => isHold(pending, event.memberId) && pending.isHeld === event.isHeld),
        event.memberId,
        event.isHeld,
        at,
        context
      )
    case "member_supervises":
      return Draft.settle(draft, (pending) => pending.type === "supervise" && pending.memberId === event.memberId)
    case "member_speaking":
      return speaking(draft, event.memberId, event.isSpeaking)
    case "media": {
      const { event: told } = event
      const ofRecording = Recordings.told(draft, told, at)
      return "type" in ofRecording && told.type === "ended" ? Playbacks.told(draft, told, at) : ofRecording
    }
    case "command_failed":
      return failed(draft, event, at, context)
  }
}

type Pending = ConferenceState["pending"][number]
const isMute = (pending: Pending, memberId: Id.MemberId): pending is Extract<Pending, { readonly type: "mute" }> =>
  pending.type === "mute" && pending.memberId === memberId
const isHold = (pending: Pending, memberId: Id.MemberId): pending is Extract<Pending, { readonly type: "hold" }> =>
  pending.type === "hold" && pending.memberId === memberId

const present = (draft: Draft.Draft, id: Id.MemberId): Member | null => {
  const member = Draft.member(draft, id)
  return member?.phase === "joined" ? member : null
}

/** The room is gone with all its members, or it was never created. */
const over = (draft: Draft.Draft, at: number, context: StepContext): Result => {
  const { room } = draft.state
  if (room === "over") return unchanged
  const gone = Draft.set(draft, { room: "over", pending: [] })
  return isCompleted(gone.state)
    ? gone
    : Closing.close(gone, "system", at, context, room === "asked" ? "never_stood" : "stood")
}

/** Seats a leg that has entered the room. A leg without a seat is removed again. */
const joined = (
  draft: Draft.Draft,
  { legId, memberId }: Extract<RoomEvent, { readonly type: "member_joined" }>,
  at: number,
  context: StepContext
): Result => {
  if (isCompleted(draft.state)) return unchanged
  const member = Draft.member(draft, memberId)
  if (member === undefined || !isSeated(member)) return Draft.askPending(draft, { type: "remove", memberId }, context)
  return member.phase === "joined" ? unchanged : Seats.joined(draft, member, legId, at, context)
}

export const muted = (draft: Draft.Draft, id: Id.MemberId, isMuted: boolean): Draft.Draft => {
  const member = present(draft, id)
  if (member === null || member.isMuted === isMuted) return draft
  const quiet = isMuted ? Seats.silent(draft, member) : draft
  return Draft.emit(Draft.setMember(quiet, id, { isMuted }), {
    type: isMuted ? "conference.member_muted" : "conference.member_unmuted",
    data: { conferenceId: draft.state.id, memberId: id, callId: member.callId }
  })
}

/** Puts a member on hold or takes it off, without an event. */
export const held = (
  draft: Draft.Draft,
  id: Id.MemberId,
  isHeld: boolean,
  at: number,
  context: StepContext
): Draft.Draft => {
  const member = present(draft, id)
  if (member === null || member.isHeld === isHeld) return draft
  const quiet = isHeld ? Seats.silent(draft, member) : draft
  return Leaving.closeWithoutUnheld(Draft.setMember(quiet, id, { isHeld }), at, context)
}

const speaking = (draft: Draft.Draft, id: Id.MemberId, isSpeaking: boolean): Result => {
  const member = present(draft, id)
  if (member === null || member.isSpeaking === isSpeaking) return unchanged
  return isSpeaking
    ? Draft.emit(Draft.setMember(draft, id, { isSpeaking }), {
        type: "conference.member_speaking_started",
        data: { conferenceId: draft.state.id, memberId: id, callId: member.callId }
      })
    : Seats.silent(draft, member)
}

/** The carrier could not carry out a command. Its request was already answered; the flags show the true state. */
const failed = (
  draft: Draft.Draft,
  { commandId, reason }: Extract<RoomEvent, { readonly type: "command_failed" }>,
  at: number,
  context: StepContext
): Result => {
  const pending = draft.state.pending.find((other) => other.commandId === commandId)
  if (pending === undefined) {
    const ofRecording = Recordings.refused(draft, commandId, reason, at)
    return "type" in ofRecording ? Playbacks.refused(draft, commandId, reason, at) : ofRecording
  }
  // There is no room, or none that can be ended.
  if (pending.type === "create" || pending.type === "end") return over(draft, at, context)
  return Draft.settle(draft, (other) => other === pending)
}
