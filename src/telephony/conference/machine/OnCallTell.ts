import { type Outcome, type StepContext, unchanged } from "../../../runtime/actor/Machine.ts"
import type { LeftReason } from "../../../domain/event/ConferenceEvent.ts"
import type { ToConference } from "../../call/Call.ts"
import { type ConferenceState, isPresent } from "./ConferenceState.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"
import * as ConferenceClosing from "./ConferenceClosing.ts"
import * as RoomMembers from "./RoomMembers.ts"

/**
 * Messages of calls about their memberships. They may be late, repeated, or after the end; an unknown member is
 * ignored.
 */
export const step = (
  state: ConferenceState,
  told: ToConference,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder | Outcome<never, never> => {
  const member = state.members.find(({ callId, id }) => id === told.memberId && callId === told.callId)
  if (member === undefined) return unchanged
  const builder = ConferenceStepBuilder.from(state)
  switch (told.type) {
    case "entered": {
      // The membership is over meanwhile: its call was notified, or its leg will be removed as it enters.
      if (!isPresent(member) || member.phase === "joined" || member.phase === "joining") return unchanged
      const afterMs = RoomMembers.ringingRetellMs
      return ConferenceStepBuilder.setMember(builder, member.id, {
        phase: "joining",
        legId: told.legId,
        told: { type: "enter", by: "system", at: context.now + afterMs, afterMs }
      })
    }
    case "refused":
      // The member entered through an earlier message, and this one is late.
      if (member.phase === "joined") return unchanged
      return over(builder, member, "moved", context)
    case "left":
      return over(builder, member, RoomMembers.reasonOf(builder.state, told), context)
  }
}

const over = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  member: ConferenceState["members"][number],
  reason: LeftReason,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder | Outcome<never, never> => {
  if (isPresent(member)) return ConferenceClosing.left(builder, member, reason, context.now, context)
  return member.told === null ? unchanged : ConferenceStepBuilder.setMember(builder, member.id, { told: null })
}
