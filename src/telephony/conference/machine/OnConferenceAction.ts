import { type Outcome, rejected, type StepContext } from "../../../runtime/actor/Machine.ts"
import { SpeakBody } from "../../call/Call.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import * as ConferenceClosing from "./ConferenceClosing.ts"
import type { ConferenceInput } from "./ConferenceInput.ts"
import { type ConferenceState, isCompleted, isSeated } from "./ConferenceState.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"
import * as MemberChanges from "./MemberChanges.ts"
import * as RoomPlaybacks from "./RoomPlaybacks.ts"
import * as RoomRecordings from "./RoomRecordings.ts"
import * as RoomMembers from "./RoomMembers.ts"
import type { ConferenceAction } from "../verb/ConferenceVerbs.ts"

/** Actions of the API on a conference: the rows of the table in guide/conferences.md#actions. */
type Result = ConferenceStepBuilder.ConferenceStepBuilder | Outcome<never, never>

export const alreadyEnded = ApiError.of("conference_already_ended", "the conference has already ended")
const full = ApiError.of("conference_full", "the conference is full")
const seatedAlready = ApiError.of("conflict", "the call is in this conference already", "call_id")

type Action<Verb extends ConferenceAction["verb"]> = Extract<ConferenceAction, { readonly verb: Verb }>

export const step = (
  state: ConferenceState,
  { action, mostParticipants, recording }: Extract<ConferenceInput, { readonly type: "action" }>,
  context: StepContext
): Result => {
  if (isCompleted(state)) return rejected(alreadyEnded)
  const builder = ConferenceStepBuilder.from(state)
  switch (action.verb) {
    case "update":
      return update(builder, action.body, mostParticipants)
    case "end":
      return ConferenceClosing.close(builder, "api", context.now, context)
    case "join":
      return join(builder, action, context)
    case "mute":
    case "unmute":
      return MemberChanges.ask(
        builder,
        action.body.legIds,
        "leg_ids",
        { type: "mute", isMuted: action.verb === "mute" },
        context
      )
    case "hold": {
      const { audioUrl = null, legIds } = action.body
      return MemberChanges.ask(builder, legIds, "leg_ids", { type: "hold", isHeld: true, audioUrl }, context)
    }
    case "unhold":
      return MemberChanges.ask(
        builder,
        action.body.legIds,
        "leg_ids",
        { type: "hold", isHeld: false, audioUrl: null },
        context
      )
    case "supervise":
      return supervise(builder, action.body, context)
    case "play": {
      const { legIds, loop, url } = action.body
      return heardBy(builder, legIds, (to) =>
        RoomPlaybacks.begin(builder, (id) => ({ type: "play", id, url, loop, target: "self" }), to, context)
      )
    }
    case "speak": {
      const { legIds, payload } = action.body
      const speech = SpeakBody.speechOf(action.body, payload)
      return heardBy(builder, legIds, (to) =>
        RoomPlaybacks.begin(builder, (id) => ({ type: "speak", id, speech }), to, context)
      )
    }
    case "stop":
      // Each playback reports its own end.
      return heardBy(builder, action.body.legIds, (to) =>
        ConferenceStepBuilder.ask(
          builder,
          { type: "media", tenantId: state.tenantId, media: { type: "stop_playback", which: "all" }, to },
          context
        )
      )
    case "record_start":
      return RoomRecordings.start(builder, action.body, recording ?? null, context)
    case "record_stop":
      return RoomRecordings.stop(builder, context)
    case "record_pause":
      return RoomRecordings.pause(builder, true, context)
    case "record_resume":
      return RoomRecordings.pause(builder, false, context)
    case "update_member": {
      const member = state.members.find(({ id, phase }) => id === action.memberId && phase === "joined")
      return member === undefined
        ? rejected(RoomMembers.noMember("member_id"))
        : ConferenceStepBuilder.setMember(builder, member.id, action.body)
    }
    case "remove_member":
      return remove(builder, action, context)
  }
}

/** Claims a seat for a call that is now being dialled. */
export const claim = (
  state: ConferenceState,
  { callId, legId, memberId }: Extract<ConferenceInput, { readonly type: "claim" }>,
  { now }: StepContext
): Result => {
  if (isCompleted(state)) return rejected(alreadyEnded)
  if (RoomMembers.isFull(state)) return rejected(full)
  const afterMs = RoomMembers.ringingRetellMs
  // The call already knows its seat, so it is asked only if it reports nothing for that long.
  const told = { type: "enter", by: "system", at: now + afterMs, afterMs } as const
  const seated = RoomMembers.seat(
    ConferenceStepBuilder.from(state),
    { id: memberId, callId, legId, phase: "ringing" },
    now
  )
  return ConferenceStepBuilder.setMember(seated, memberId, { told })
}

const update = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  body: Action<"update">["body"],
  mostParticipants: number | null
): ConferenceStepBuilder.ConferenceStepBuilder | Outcome<never, never> => {
  const { maxParticipants } = body
  if (maxParticipants !== undefined) {
    const seated = RoomMembers.seated(builder.state)
    if (maxParticipants < seated)
      return rejected(ApiError.of("unprocessable", `max_participants: ${seated} are there now`, "max_participants"))
    if (mostParticipants !== null && maxParticipants > mostParticipants) return rejected(tooMany(mostParticipants))
  }
  return ConferenceStepBuilder.set(builder, body)
}

export const tooMany = (most: number): ApiError =>
  ApiError.of("unprocessable", `max_participants: your plan has ${most}`, "max_participants")

const join = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  { body }: Action<"join">,
  context: StepContext
): Result => {
  const { callId, hold, mute } = body
  if (builder.state.members.some((member) => member.callId === callId && isSeated(member)))
    return rejected(seatedAlready)
  if (RoomMembers.isFull(builder.state)) return rejected(full)
  const id = Id.derive(context.seed, "member")
  const seated = RoomMembers.seat(builder, { id, callId, phase: "claimed", isMuted: mute, isHeld: hold }, context.now)
  return RoomMembers.callIn(seated, id, context.now)
}

const heardBy = (
  { state }: ConferenceStepBuilder.ConferenceStepBuilder,
  legIds: ReadonlyArray<Id.LegId> | undefined,
  todo: (to: ReadonlyArray<Id.MemberId> | null) => Result
): Result => {
  const members = legIds === undefined ? null : MemberChanges.membersOf(state, legIds)
  if (legIds !== undefined && members === null) return rejected(RoomMembers.noMember("leg_ids"))
  return todo(members?.map(({ id }) => id) ?? null)
}

const supervise = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  { legId, role, whisperLegIds }: Action<"supervise">["body"],
  context: StepContext
): Result => {
  const { state } = builder
  if (state.status === "init") return rejected(ApiError.of("conference_action_invalid", "the conference has not begun"))
  if (MemberChanges.membersOf(state, [legId]) === null) return rejected(RoomMembers.noMember("leg_id"))
  const heard = role === "whisper" ? MemberChanges.membersOf(state, whisperLegIds ?? []) : []
  if (heard === null) return rejected(RoomMembers.noMember("whisper_leg_ids"))
  const targets = heard.map(({ id }) => id)
  return MemberChanges.ask(builder, [legId], "leg_id", { type: "supervise", role, targets }, context)
}

/** Hangs up a ringing member. Any other member leaves, and its call continues. */
const remove = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  { member: named }: Action<"remove_member">,
  context: StepContext
): Result => {
  const member = builder.state.members.findLast(
    (other) => isSeated(other) && (other.id === named || other.callId === named)
  )
  if (member === undefined) return rejected(RoomMembers.noMember("member_id"))
  if (member.phase !== "ringing")
    return ConferenceStepBuilder.askPending(builder, { type: "remove", memberId: member.id }, context)
  const afterMs = RoomMembers.firstRetellMs
  const told = { type: "over", by: "api", isRemoved: true, at: context.now + afterMs, afterMs } as const
  const over = ConferenceStepBuilder.tell(builder, member.callId, RoomMembers.over(builder.state.id, member.id, told))
  const gone = ConferenceClosing.left(over, member, context.now, context)
  return ConferenceStepBuilder.setMember(gone, member.id, { told })
}
