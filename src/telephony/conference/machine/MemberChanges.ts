import { type Outcome, rejected, type StepContext } from "../../../runtime/actor/Machine.ts"
import type * as Id from "../../../domain/Id.ts"
import type { Flags, MemberChange, MemberChanged } from "../../../ports/media/MemberChange.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"
import * as ConferenceClosing from "./ConferenceClosing.ts"
import * as RoomMembers from "./RoomMembers.ts"

/** Changes of members: the room is asked for them, and its reports set the flags that the conference shows. */

/** Asks the room to change the members with these legs, which the field `param` of the request names. */
export const ask = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  legIds: ReadonlyArray<Id.LegId>,
  param: string,
  change: MemberChange,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder | Outcome<never, never> => {
  const members = RoomMembers.membersOf(builder.state, legIds)
  return members === null
    ? rejected(RoomMembers.noMember(param))
    : members.reduce(
        (open, { id, isWaiting }) =>
          change.type === "hold"
            ? RoomMembers.hold(
                // A request decides over the hold of a member from then on.
                isWaiting === true ? ConferenceStepBuilder.setMember(open, id, { isWaiting: false }) : open,
                id,
                change,
                context
              )
            : ConferenceStepBuilder.askPending(open, { ...change, memberId: id }, context),
        builder
      )
}

/** Handles the room's report of a change: settles the command for it, and keeps its flags. */
export const told = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  id: Id.MemberId,
  changed: MemberChanged,
  at: number,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder => {
  switch (changed.type) {
    case "member_muted":
      return muted(builder, id, changed.isMuted)
    case "member_held":
      return held(builder, id, changed.isHeld, at, context)
    case "member_supervises":
      return RoomMembers.supervising(
        ConferenceStepBuilder.settle(builder, (pending) => pending.type === "supervise" && pending.memberId === id),
        id,
        changed
      )
  }
}

/** Gives a member the flags that the carrier has. */
export const found = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  id: Id.MemberId,
  { isHeld, isMuted, role, targets }: Flags,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder =>
  held(RoomMembers.supervising(muted(builder, id, isMuted), id, { role, targets }), id, isHeld, context.now, context)

const muted = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  id: Id.MemberId,
  isMuted: boolean
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const settled = ConferenceStepBuilder.settle(
    builder,
    (pending) => pending.type === "mute" && pending.memberId === id && pending.isMuted === isMuted
  )
  const member = ConferenceStepBuilder.present(settled, id)
  if (member === null || member.isMuted === isMuted) return settled
  const quiet = isMuted ? RoomMembers.silent(settled, member) : settled
  return ConferenceStepBuilder.emit(ConferenceStepBuilder.setMember(quiet, id, { isMuted }), {
    type: isMuted ? "conference.member_muted" : "conference.member_unmuted",
    data: RoomMembers.ofMember(builder.state, member)
  })
}

const held = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  id: Id.MemberId,
  isHeld: boolean,
  at: number,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const settled = ConferenceStepBuilder.settle(
    builder,
    (pending) => pending.type === "hold" && pending.memberId === id && pending.isHeld === isHeld
  )
  const member = ConferenceStepBuilder.present(settled, id)
  if (member === null || member.isHeld === isHeld) return settled
  const quiet = isHeld ? RoomMembers.silent(settled, member) : settled
  const changed = ConferenceStepBuilder.emit(ConferenceStepBuilder.setMember(quiet, id, { isHeld }), {
    type: isHeld ? "conference.member_held" : "conference.member_unheld",
    data: RoomMembers.ofMember(builder.state, member)
  })
  return ConferenceClosing.closeWithoutUnheld(changed, at, context)
}
