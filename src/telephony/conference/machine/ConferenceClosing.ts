import type { EndReason, LeftReason } from "../../../domain/event/ConferenceEvent.ts"
import type { StepContext } from "../../../runtime/actor/Machine.ts"
import { type ConferenceState, isCompleted, isPresent, type Member } from "./ConferenceState.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"
import * as RoomPlaybacks from "./RoomPlaybacks.ts"
import * as RoomRecordings from "./RoomRecordings.ts"
import * as RoomMembers from "./RoomMembers.ts"

/** The end of a conference, and of a stay in it. A conference is terminal with the commit that closes it. */

/** How long the carrier may take to confirm that the room is over. */
export const overMs = 60_000

/**
 * Closes the room: all of its members leave, and their calls and the carrier are notified. `room`: when the room never
 * existed, only calls that were dialled for it are hung up.
 */
export const close = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  reason: EndReason,
  at: number,
  context: StepContext,
  room: "stood" | "never_stood" = "stood"
): ConferenceStepBuilder.ConferenceStepBuilder => {
  if (isCompleted(builder.state)) return builder
  const by = reason === "api" ? "api" : "system"
  const emptied = builder.state.members.filter(isPresent).reduce((open, member) => {
    const told = {
      type: "over",
      by,
      ...(room === "never_stood" ? { neverStood: true as const } : {}),
      at: context.now + RoomMembers.firstRetellMs,
      afterMs: RoomMembers.firstRetellMs
    } as const
    const freed = ConferenceStepBuilder.setMember(RoomMembers.freed(open, member, at, "conference_ended"), member.id, {
      told
    })
    return ConferenceStepBuilder.tell(freed, member.callId, RoomMembers.over(open.state.id, member.id, told))
  }, builder)
  const quiet = RoomRecordings.outlive(RoomPlaybacks.closed(emptied, at), at)
  const { state } = quiet
  const ended = ConferenceStepBuilder.emit(
    ConferenceStepBuilder.set(quiet, { status: "completed", endedAt: at, pending: [], lostAt: null }),
    {
      type: "conference.ended",
      data: { ...RoomMembers.ofRoom(state), endedAt: at, durationSeconds: durationSeconds(state, at), reason }
    }
  )
  return state.room === "over" ? ended : ConferenceStepBuilder.askPending(ended, { type: "end" }, context)
}

/** How long the conference was live, in seconds rounded up. */
const durationSeconds = ({ startedAt }: ConferenceState, endedAt: number): number =>
  startedAt === null ? 0 : Math.ceil(Math.max(0, endedAt - startedAt) / 1000)

/** Handles a member that has left or will not enter: this may end the room. */
export const left = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  member: Member,
  reason: LeftReason,
  at: number,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const out = RoomMembers.freed(builder, member, at, reason)
  const { state } = out
  if (member.endOnExit ?? (member.role === "host" && state.endOnExit))
    return close(out, member.role === "host" ? "host_left" : "member_left", at, context)
  if (RoomMembers.count(state) === 0) return close(out, "empty", at, context)
  const alone = RoomMembers.count(state) === 1 && state.aloneAt !== undefined ? { aloneAt: at } : {}
  const soft = ConferenceStepBuilder.set(out, {
    ...alone,
    endsWithoutUnheld: state.endsWithoutUnheld || member.softEndOnExit
  })
  const heard =
    member.phase === "joined" && RoomMembers.beeps(state, member, "on_exit")
      ? ConferenceStepBuilder.ask(soft, { type: "beep", except: null }, context)
      : soft
  return rescued(closeWithoutUnheld(heard, at, context), at, context)
}

/** Applies the room's rule when its last member was left on hold and none is expected. */
const rescued = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  at: number,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const { state } = builder
  const { onMemberLeft = "none", onMemberLeftAudioUrl: url } = state
  const [last, ...others] = state.members.filter(isPresent)
  if (isCompleted(state) || onMemberLeft === "none" || last === undefined || others.length > 0) return builder
  // A member that waits for the start is not left by others.
  if (last.phase !== "joined" || !last.isHeld || last.isWaiting === true) return builder
  if (onMemberLeft === "hangup") return close(builder, "left_on_hold", at, context)
  if (url === undefined) return builder
  const back = RoomMembers.hold(builder, last.id, { isHeld: false, audioUrl: null }, context)
  const played = RoomPlaybacks.start(
    back,
    (id) => ({ type: "play", id, url, loop: 1, target: "self" }),
    last.legId === null ? undefined : [last.legId],
    context
  )
  // Too many sounds wait: the member is off hold in any case.
  return "type" in played ? back : played
}

/** Closes the room when a member with `softEndOnExit` has left and no member off hold is there. */
export const closeWithoutUnheld = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  at: number,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const { state } = builder
  return state.endsWithoutUnheld &&
    !isCompleted(state) &&
    !state.members.some(({ isHeld, phase }) => phase === "joined" && !isHeld)
    ? close(builder, "all_on_hold", at, context)
    : builder
}
