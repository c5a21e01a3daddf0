import { type Outcome, rejected, type StepContext } from "../../../runtime/actor/Machine.ts"
import { SpeakBody } from "../../call/Call.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import * as Id from "../../../domain/Id.ts"
import * as Closing from "./Closing.ts"
import type { ConferenceInput } from "./ConferenceInput.ts"
import { type ConferenceState, isCompleted, isSeated, type Member } from "./ConferenceState.ts"
import * as Draft from "./Draft.ts"
import * as Leaving from "./Leaving.ts"
import * as Playbacks from "./Playbacks.ts"
import * as Recordings from "./Recordings.ts"
import * as Seats from "./Seats.ts"
import type { ConferenceAction } from "../verb/Verbs.ts"

/** Actions of the API on a conference: the rows of the table in guide/conferences.md#actions. */
type Result = Draft.Draft | Outcome<never, never>

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
  const draft = Draft.from(state)
  switch (action.verb) {
    case "update":
      return update(draft, action.body, mostParticipants)
    case "end":
      return Closing.close(draft, "api", context.now, context)
    case "join":
      return join(draft, action, context)
    case "mute":
    case "unmute":
      return each(draft, action.body.legIds, (open, { id }) =>
        Draft.askPending(open, { type: "mute", memberId: id, isMuted: action.verb === "mute" }, context)
      )
    case "hold": {
      const { audioUrl = null, legIds } = action.body
      return each(draft, legIds, (open, { id }) =>
        Draft.askPending(open, { type: "hold", memberId: id, isHeld: true, audioUrl }, context)
      )
    }
    case "unhold":
      return each(draft, action.body.legIds, (open, { id }) =>
        Draft.askPending(open, { type: "hold", memberId: id, isHeld: false, audioUrl: null }, context)
      )
    case "supervise":
      return supervise(draft, action.body, context)
    case "play": {
      const { legIds, loop, url } = action.body
      return heardBy(draft, legIds, (to) =>
        Playbacks.begin(draft, (id) => ({ type: "play", id, url, loop, target: "self" }), to, context)
      )
    }
    case "speak": {
      const { legIds, payload } = action.body
      const speech = SpeakBody.speechOf(action.body, payload)
      return heardBy(draft, legIds, (to) =>
        Playbacks.begin(draft, (id) => ({ type: "speak", id, speech }), to, context)
      )
    }
    case "stop":
      // Each playback reports its own end.
      return heardBy(draft, action.body.legIds, (to) =>
        Draft.ask(
          draft,
          { type: "media", tenantId: state.tenantId, media: { type: "stop_playback", which: "all" }, to },
          context
        )
      )
    case "record_start":
      return Recordings.start(draft, action.body, recording ?? null, context)
    case "record_stop":
      return Recordings.stop(draft, context)
    case "record_pause":
      return Recordings.pause(draft, true, context)
    case "record_resume":
      return Recordings.pause(draft, false, context)
    case "update_member": {
      const member = state.members.find(({ id, phase }) => id === action.memberId && phase === "joined")
      return member === undefined
        ? rejected(Seats.noMember("member_id"))
        : Draft.setMember(draft, member.id, action.body)
    }
    case "remove_member":
      return remove(draft, action, context)
  }
}

/** Claims a seat for a call that is now being dialled. */
export const claim = (
  state: ConferenceState,
  { callId, legId, memberId }: Extract<ConferenceInput, { readonly type: "claim" }>,
  { now }: StepContext
): Result => {
  if (isCompleted(state)) return rejected(alreadyEnded)
  if (Seats.isFull(state)) return rejected(full)
  const afterMs = Seats.ringingRetellMs
  // The call already knows its seat, so it is asked only if it reports nothing for that long.
  const told = { type: "enter", by: "system", at: now + afterMs, afterMs } as const
  const seated = Seats.seat(Draft.from(state), { id: memberId, callId, legId, phase: "ringing" }, now)
  return Draft.setMember(seated, memberId, { told })
}

const update = (
  draft: Draft.Draft,
  body: Action<"update">["body"],
  mostParticipants: number | null
): Draft.Draft | Outcome<never, never> => {
  const { maxParticipants } = body
  if (maxParticipants !== undefined) {
    const seated = Seats.seated(draft.state)
    if (maxParticipants < seated)
      return rejected(ApiError.of("unprocessable", `max_participants: ${seated} are there now`, "max_participants"))
    if (mostParticipants !== null && maxParticipants > mostParticipants) return rejected(tooMany(mostParticipants))
  }
  return Draft.set(draft, body)
}

export const tooMany = (most: number): ApiError =>
  ApiError.of("unprocessable", `max_participants: your plan has ${most}`, "max_participants")

const join = (draft: Draft.Draft, { body }: Action<"join">, context: StepContext): Result => {
  const { callId, hold, mute } = body
  if (draft.state.members.some((member) => member.callId === callId && isSeated(member))) return rejected(seatedAlready)
  if (Seats.isFull(draft.state)) return rejected(full)
  const id = Id.derive(context.seed, "member")
  const seated = Seats.seat(draft, { id, callId, phase: "claimed", isMuted: mute, isHeld: hold }, context.now)
  return Seats.callIn(seated, id, context.now)
}

/** The members with these legs; null when a leg belongs to no member in the room. */
const membersOf = (state: ConferenceState, legIds: ReadonlyArray<Id.LegId>): ReadonlyArray<Member> | null => {
  const members = [...new Set(legIds)].flatMap(
    (legId) => state.members.find((member) => member.legId === legId && member.phase === "joined") ?? []
  )
  return members.length === new Set(legIds).size ? members : null
}

const each = (
  draft: Draft.Draft,
  legIds: ReadonlyArray<Id.LegId>,
  todo: (draft: Draft.Draft, member: Member) => Draft.Draft
): Result => {
  const members = membersOf(draft.state, legIds)
  return members === null ? rejected(Seats.noMember("leg_ids")) : members.reduce(todo, draft)
}

const heardBy = (
  { state }: Draft.Draft,
  legIds: ReadonlyArray<Id.LegId> | undefined,
  todo: (to: ReadonlyArray<Id.MemberId> | null) => Result
): Result => {
  const members = legIds === undefined ? null : membersOf(state, legIds)
  if (legIds !== undefined && members === null) return rejected(Seats.noMember("leg_ids"))
  return todo(members?.map(({ id }) => id) ?? null)
}

const supervise = (
  draft: Draft.Draft,
  { legId, role, whisperLegIds }: Action<"supervise">["body"],
  context: StepContext
): Result => {
  const { state } = draft
  if (state.status === "init") return rejected(ApiError.of("conference_action_invalid", "the conference has not begun"))
  const [member] = membersOf(state, [legId]) ?? []
  if (member === undefined) return rejected(Seats.noMember("leg_id"))
  const heard = role === "whisper" ? membersOf(state, whisperLegIds ?? []) : []
  if (heard === null) return rejected(Seats.noMember("whisper_leg_ids"))
  return Draft.askPending(
    draft,
    { type: "supervise", memberId: member.id, role, targets: heard.map(({ id }) => id) },
    context
  )
}

/** Hangs up a ringing member. Any other member leaves, and its call continues. */
const remove = (draft: Draft.Draft, { member: named }: Action<"remove_member">, context: StepContext): Result => {
  const member = draft.state.members.findLast(
    (other) => isSeated(other) && (other.id === named || other.callId === named)
  )
  if (member === undefined) return rejected(Seats.noMember("member_id"))
  if (member.phase !== "ringing") return Draft.askPending(draft, { type: "remove", memberId: member.id }, context)
  const afterMs = Seats.firstRetellMs
  const told = { type: "over", by: "api", isRemoved: true, at: context.now + afterMs, afterMs } as const
  const over = Draft.tell(draft, member.callId, Seats.over(draft.state.id, member.id, told))
  const gone = Leaving.left(over, member, context.now, context)
  return Draft.setMember(gone, member.id, { told })
}
