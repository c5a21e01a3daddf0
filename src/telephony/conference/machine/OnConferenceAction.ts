import { type Outcome, rejected, type StepContext } from "../../../runtime/actor/Machine.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as ConferenceClosing from "./ConferenceClosing.ts"
import type { ConferenceInput } from "./ConferenceInput.ts"
import { type ConferenceState, isCompleted, isPresent } from "./ConferenceState.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"
import * as RoomMembers from "./RoomMembers.ts"
import type { ConferenceVerb } from "../verb/ConferenceVerb.ts"
import { type ConferenceAction, table } from "../verb/ConferenceVerbs.ts"

/** Actions of the API on a conference, guide/conferences.md#actions. Each verb acts by its row in the table. */
type Result = ConferenceStepBuilder.ConferenceStepBuilder | Outcome<never, never>

export const alreadyEnded = ApiError.of("conference_already_ended", "the conference has already ended")
const notStarted = ApiError.of("conference_action_invalid", "the conference has not begun")

type Action<Verb extends ConferenceAction["verb"]> = Extract<ConferenceAction, { readonly verb: Verb }>

export const step = (
  state: ConferenceState,
  input: Extract<ConferenceInput, { readonly type: "action" }>,
  context: StepContext
): Result => {
  if (isCompleted(state)) return rejected(alreadyEnded)
  const { action } = input
  const builder = ConferenceStepBuilder.from(state)
  switch (action.verb) {
    case "update_member": {
      const member = state.members.find(({ id, phase }) => id === action.memberId && phase === "joined")
      return member === undefined
        ? rejected(RoomMembers.noMember("member_id"))
        : ConferenceStepBuilder.setMember(builder, member.id, action.body)
    }
    case "remove_member":
      return remove(builder, action, context)
    default: {
      const row: ConferenceVerb = table[action.verb]
      return row.when === "begun" && state.status === "init"
        ? rejected(notStarted)
        : row.act({ ...input, builder, context }, action.body)
    }
  }
}

/** Claims a membership for a call that is now being dialled. */
export const claim = (
  state: ConferenceState,
  {
    callId,
    customerReference = null,
    entering = {},
    legId,
    memberId
  }: Extract<ConferenceInput, { readonly type: "claim" }>,
  context: StepContext
): Result => {
  const { now } = context
  if (isCompleted(state)) return rejected(alreadyEnded)
  if (RoomMembers.isFull(state)) return rejected(RoomMembers.full)
  const enters = RoomMembers.entering(state, entering, memberId, context)
  if (enters === null) return rejected(RoomMembers.noMember("whisper_leg_ids"))
  const afterMs = RoomMembers.ringingRetellMs
  // The call already knows its membership, so it is asked only if it reports nothing for that long.
  const told = { type: "enter", by: "system", at: now + afterMs, afterMs } as const
  const present = RoomMembers.add(
    ConferenceStepBuilder.from(state),
    { id: memberId, callId, legId, customerReference, ...enters, phase: "ringing" },
    now
  )
  return ConferenceStepBuilder.setMember(present, memberId, { told })
}

/** Hangs up a ringing member. Any other member leaves, and its call continues. */
const remove = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  { member: named }: Action<"remove_member">,
  context: StepContext
): Result => {
  const member = builder.state.members.findLast(
    (other) => isPresent(other) && (other.id === named || other.callId === named)
  )
  if (member === undefined) return rejected(RoomMembers.noMember("member_id"))
  if (member.phase !== "ringing")
    return ConferenceStepBuilder.askPending(builder, { type: "remove", memberId: member.id }, context)
  const afterMs = RoomMembers.firstRetellMs
  const told = { type: "over", by: "api", isRemoved: true, at: context.now + afterMs, afterMs } as const
  const over = ConferenceStepBuilder.tell(builder, member.callId, RoomMembers.over(builder.state.id, member.id, told))
  const gone = ConferenceClosing.left(over, member, "api", context.now, context)
  return ConferenceStepBuilder.setMember(gone, member.id, { told })
}
