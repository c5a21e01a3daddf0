import type { StepContext } from "../../../runtime/actor/Machine.ts"
import * as ConferenceClosing from "./ConferenceClosing.ts"
import { isCompleted, type Member } from "./ConferenceState.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"
import * as RoomMembers from "./RoomMembers.ts"

/** The consequences when a member leaves. */

/** Handles a member that has left or will not enter: this may end the room. */
export const left = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  member: Member,
  at: number,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const out = RoomMembers.freed(builder, member, at)
  const { state } = out
  const endsRoom = member.endOnExit ?? (member.role === "host" && state.endOnExit)
  if (endsRoom || RoomMembers.seated(state) === 0) return ConferenceClosing.close(out, "system", at, context)
  const soft = ConferenceStepBuilder.set(out, { endsWithoutUnheld: state.endsWithoutUnheld || member.softEndOnExit })
  const heard =
    member.phase === "joined" && RoomMembers.beeps(state, member, "on_exit")
      ? ConferenceStepBuilder.ask(soft, { type: "beep", except: null }, context)
      : soft
  return closeWithoutUnheld(heard, at, context)
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
    ? ConferenceClosing.close(builder, "system", at, context)
    : builder
}
