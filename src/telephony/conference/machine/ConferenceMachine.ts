import {
  accepted,
  type Machine,
  type Outcome,
  rejected,
  type StepContext,
  unchanged
} from "../../../runtime/actor/Machine.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import * as OnConferenceAction from "./OnConferenceAction.ts"
import * as ConferenceClosing from "./ConferenceClosing.ts"
import type { ConferenceInput } from "./ConferenceInput.ts"
import { type ConferenceState, isCompleted, untouched } from "./ConferenceState.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"
import * as OnConferenceDeadline from "./OnConferenceDeadline.ts"
import * as RecordingMoney from "./RecordingMoney.ts"
import * as OnConferenceRecovery from "./OnConferenceRecovery.ts"
import * as OnConferenceRoomEvent from "./OnConferenceRoomEvent.ts"
import * as RoomMembers from "./RoomMembers.ts"
import * as OnCallTell from "./OnCallTell.ts"

/**
 * The life of a conference: a pure table from state and input to the next state, its public events, the commands to its
 * room and the messages to its calls.
 *
 * A conference owns memberships, and a call owns its leg: neither waits for the other. Each member has an id of its
 * own, so a late or repeated message finds no membership but its own. `completed` absorbs: later inputs only settle
 * unfinished work.
 */

export const machineVersion = 1

const decide = (
  state: ConferenceState | null,
  input: ConferenceInput,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder | Outcome<never, never> => {
  if (state === null) {
    if (input.type === "create") return create(input, context)
    return input.type === "action" || input.type === "claim"
      ? rejected(ApiError.of("not_found", "no such conference"))
      : unchanged
  }
  switch (input.type) {
    case "create":
      return unchanged
    case "action":
      return OnConferenceAction.step(state, input, context)
    case "claim":
      return OnConferenceAction.claim(state, input, context)
    case "told":
      return OnCallTell.step(state, input.told, context)
    case "room":
      return OnConferenceRoomEvent.step(state, [input.event], context)
    case "room_events":
      return OnConferenceRoomEvent.step(state, input.events, context)
    case "deadline":
      return OnConferenceDeadline.step(state, input, context)
    case "renewal": {
      const at = RecordingMoney.renewsAt(state)
      return at === null || at > context.now
        ? unchanged
        : RecordingMoney.renewed(ConferenceStepBuilder.from(state), input.reservedMinutes, context.now)
    }
    case "recovered":
      return OnConferenceRecovery.step(state, input, context)
    case "faulted":
      return isCompleted(state)
        ? unchanged
        : ConferenceClosing.close(ConferenceStepBuilder.from(state), "service", context.now, context)
    case "ended_by_system":
      if (isCompleted(state))
        // Only the operator waits for an answer.
        return input.by === "operator" ? rejected(OnConferenceAction.alreadyEnded) : unchanged
      return ConferenceClosing.close(ConferenceStepBuilder.from(state), input.by, context.now, context)
  }
}

const create = (
  input: Extract<ConferenceInput, { readonly type: "create" }>,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const { conferenceId, type: _, ...asked } = input
  const state: ConferenceState = {
    ...asked,
    ...untouched,
    id: conferenceId,
    status: "init",
    createdAt: context.now,
    startedAt: null,
    endedAt: null,
    room: "asked",
    sequence: 0,
    seq: 0,
    at: context.now
  }
  const made = ConferenceStepBuilder.askPending(
    ConferenceStepBuilder.from(state),
    { type: "create", tenantId: input.tenantId, near: input.hostLegId },
    context
  )
  const memberId = Id.derive(context.seed, "member")
  const { customerReference, hostCallId: callId, hostLegId: legId } = input
  const present = RoomMembers.add(
    made,
    { id: memberId, callId, legId, customerReference, phase: "claimed" },
    context.now
  )
  return RoomMembers.callIn(present, memberId, context.now)
}

export const isSettled = (state: ConferenceState): boolean =>
  isCompleted(state) &&
  state.room === "over" &&
  state.pending.length === 0 &&
  state.recordings.length === 0 &&
  state.members.every(({ told }) => told === null)

export const machine: Machine<ConferenceState, ConferenceInput, ConferenceStepBuilder.Effects> = {
  step: (state, input, context) => {
    const decided = decide(state, input, context)
    if ("type" in decided) return decided
    const result = state === null ? decided : RecordingMoney.followed(state, decided, context.now)
    const { state: _, ...effects } = result
    return accepted(
      {
        ...result.state,
        seq: (state?.seq ?? 0) + 1,
        sequence: (state?.sequence ?? 0) + effects.events.length,
        at: context.now
      },
      effects
    )
  },
  nextDeadline: OnConferenceDeadline.next,
  isSettled
}
export const { nextDeadline, step } = machine
