import type { StepContext } from "../../../runtime/actor/Machine.ts"
import * as Closing from "./Closing.ts"
import { isCompleted, type Member } from "./ConferenceState.ts"
import * as Draft from "./Draft.ts"
import * as Seats from "./Seats.ts"

/** The consequences when a member leaves. */

/** Handles a member that has left or will not enter: this may end the room. */
export const left = (draft: Draft.Draft, member: Member, at: number, context: StepContext): Draft.Draft => {
  const out = Seats.freed(draft, member, at)
  const { state } = out
  const endsRoom = member.endOnExit ?? (member.role === "host" && state.endOnExit)
  if (endsRoom || Seats.seated(state) === 0) return Closing.close(out, "system", at, context)
  const soft = Draft.set(out, { endsWithoutUnheld: state.endsWithoutUnheld || member.softEndOnExit })
  const heard =
    member.phase === "joined" && Seats.beeps(state, member, "on_exit")
      ? Draft.ask(soft, { type: "beep", except: null }, context)
      : soft
  return closeWithoutUnheld(heard, at, context)
}

/** Closes the room when a member with `softEndOnExit` has left and no member off hold is there. */
export const closeWithoutUnheld = (draft: Draft.Draft, at: number, context: StepContext): Draft.Draft => {
  const { state } = draft
  return state.endsWithoutUnheld &&
    !isCompleted(state) &&
    !state.members.some(({ isHeld, phase }) => phase === "joined" && !isHeld)
    ? Closing.close(draft, "system", at, context)
    : draft
}
