import type { StepContext } from "../../../runtime/actor/Machine.ts"
import type { ToCall } from "../../call/Call.ts"
import { type Flags, type MemberChange, settingsOf, type SupervisorRole } from "../../../ports/media/MemberChange.ts"
import type { Entering } from "../verb/ConferenceField.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type { LeftReason } from "../../../domain/event/ConferenceEvent.ts"
import * as Id from "../../../domain/Id.ts"
import { type Beep, type ConferenceState, isPresent, type Member, mostLeft } from "./ConferenceState.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"

/** The memberships of a conference: how they are taken, joined and freed. */

export const count = (state: ConferenceState): number => state.members.filter(isPresent).length

export const isFull = (state: ConferenceState): boolean => count(state) >= state.maxParticipants

/** The members with these legs; null when a leg belongs to no member in the room. */
export const membersOf = (state: ConferenceState, legIds: ReadonlyArray<Id.LegId>): ReadonlyArray<Member> | null => {
  const members = [...new Set(legIds)].flatMap(
    (legId) => state.members.find((member) => member.legId === legId && member.phase === "joined") ?? []
  )
  return members.length === new Set(legIds).size ? members : null
}

/** The members that hear a supervisor's whisper, none in another role; null: a leg belongs to no member in the room. */
export const hearers = (
  state: ConferenceState,
  role: SupervisorRole | undefined,
  legIds: ReadonlyArray<Id.LegId> = []
): ReadonlyArray<Id.MemberId> | null =>
  role === "whisper" ? (membersOf(state, legIds)?.map(({ id }) => id) ?? null) : []

/** How many are in the room, without members that ring or come in. */
export const inside = ({ members }: ConferenceState): number => members.filter(({ phase }) => phase === "joined").length

/** The fields of every event of the room. */
export const ofRoom = ({ customerReference, hostCallId, hostLegId, id }: ConferenceState) => ({
  conferenceId: id,
  callId: hostCallId,
  legId: hostLegId,
  customerReference
})

/** The fields of every event of a member. */
export const ofMember = (state: ConferenceState, { callId, customerReference, id, legId }: Member) => ({
  conferenceId: state.id,
  memberId: id,
  callId,
  // A member that is in the room has a leg.
  legId: legId ?? Id.derive(callId, "leg"),
  customerReference: customerReference ?? (callId === state.hostCallId ? state.customerReference : null)
})

/** Why a member left, by what its call or the room has reported. */
export const reasonOf = (
  { pending }: ConferenceState,
  { isCallOver, memberId }: { readonly memberId: Id.MemberId; readonly isCallOver?: true }
): LeftReason => {
  if (isCallOver === true) return "call_ended"
  return pending.some((other) => other.type === "remove" && other.memberId === memberId) ? "api" : "moved"
}

type Enters = Pick<
  Member,
  "isMuted" | "isHeld" | "beepEnabled" | "endOnExit" | "softEndOnExit" | "enters" | "holdSound"
>

/** The fields of a member that comes in like this; null: a leg that is to hear its whisper is not in the room. */
export const entering = (
  state: ConferenceState,
  { beepEnabled, endOnExit, hold, holdAudioUrl, mute, role, softEndOnExit, whisperLegIds }: Entering,
  memberId: Id.MemberId,
  context: StepContext
): Enters | null => {
  const targets = hearers(state, role, whisperLegIds)
  if (targets === null) return null
  const sound = holdAudioUrl === undefined ? null : { audioUrl: holdAudioUrl, audioId: soundId(memberId, context) }
  const enters = { ...(role === undefined ? {} : { role, targets }), ...sound }
  return {
    isMuted: mute ?? false,
    isHeld: hold ?? false,
    beepEnabled: beepEnabled ?? null,
    endOnExit: endOnExit ?? null,
    softEndOnExit: softEndOnExit ?? false,
    ...(sound === null ? {} : { holdSound: sound.audioId }),
    ...(Object.keys(enters).length === 0 ? {} : { enters })
  }
}

/** Gives a call a membership. The host's call is the host again when it returns. */
export const add = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  fields: Pick<Member, "id" | "callId" | "phase"> &
    Partial<Pick<Member, "legId" | "customerReference">> &
    Partial<Enters>,
  now: number
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const { hostCallId, members } = builder.state
  const member: Member = {
    legId: null,
    role: fields.callId === hostCallId ? "host" : "participant",
    createdAt: now,
    joinedAt: null,
    leftAt: null,
    isMuted: false,
    isHeld: false,
    isSpeaking: false,
    endOnExit: null,
    softEndOnExit: false,
    beepEnabled: null,
    told: null,
    ...fields
  }
  const left = members.filter((other) => !isPresent(other))
  const forgotten = new Set(left.slice(0, Math.max(0, left.length + 1 - mostLeft)))
  return ConferenceStepBuilder.set(builder, {
    ...(builder.state.aloneAt == null ? {} : { aloneAt: null }),
    members: [...members.filter((other) => !forgotten.has(other) || other.told !== null), member]
  })
}

/** How soon an unanswered message is sent again: first after this, then after twice as long each time. */
export const firstRetellMs = 10_000
/** Longer, because a phone may ring for minutes and its call has nothing to report meanwhile. */
export const ringingRetellMs = 60_000
/** A call that has not answered by then no longer belongs to the room. */
export const longestRetellMs = 2_560_000

/** Asks the call of a membership to enter, and schedules a repetition. */
export const callIn = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  id: Id.MemberId,
  now: number,
  afterMs = firstRetellMs
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const member = ConferenceStepBuilder.member(builder, id)
  if (member === undefined) return builder
  const told = { type: "enter", by: "system", at: now + afterMs, afterMs } as const
  return enter(ConferenceStepBuilder.setMember(builder, id, { told }), member)
}

/** Sends the message of `callIn` without scheduling a repetition. */
export const enter = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  member: Member
): ConferenceStepBuilder.ConferenceStepBuilder =>
  ConferenceStepBuilder.tell(builder, member.callId, {
    type: "enter",
    conferenceId: builder.state.id,
    memberId: member.id,
    adapter: builder.state.adapter,
    isHost: member.role === "host",
    isMuted: member.isMuted,
    isHeld: member.isHeld,
    ...settingsOf(member.enters ?? {})
  })

/** The message that the membership is over, with the details of `told`. */
export const over = (
  conferenceId: Id.ConferenceId,
  memberId: Id.MemberId,
  { by, isRemoved, neverStood }: Pick<NonNullable<Member["told"]>, "by" | "isRemoved" | "neverStood">
): Extract<ToCall, { readonly type: "over" }> => ({
  type: "over",
  conferenceId,
  memberId,
  by,
  ...(isRemoved === undefined ? {} : { isRemoved }),
  ...(neverStood === undefined ? {} : { neverStood })
})

export const beeps = (state: ConferenceState, member: Member, when: Exclude<Beep, "never" | "always">): boolean => {
  const asked = member.beepEnabled ?? state.beepEnabled
  return asked === when || asked === "always"
}

/** Handles the room's report that the member is in it. */
export const joined = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  member: Member,
  legId: Id.LegId,
  at: number,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const { state } = builder
  const seen = ConferenceStepBuilder.emit(
    ConferenceStepBuilder.setMember(builder, member.id, { phase: "joined", legId, joinedAt: at, told: null }),
    {
      type: "conference.member_joined",
      data: {
        ...ofMember(state, { ...member, legId }),
        role: member.role,
        joinedAt: at
      }
    }
  )
  const { role = "none", targets = [] } = member.enters ?? {}
  const supervised = supervising(seen, member.id, { role, targets })
  const heard = beeps(state, member, "on_enter")
    ? ConferenceStepBuilder.ask(supervised, { type: "beep", except: member.id }, context)
    : supervised
  const met = inside(heard.state) > 1 ? ConferenceStepBuilder.set(heard, { aloneAt: null }) : heard
  return waiting(start(met, at, context), member.id, context)
}

/** Puts a member that came in before the start on hold with the room's sound for that, if it has one. */
const waiting = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  id: Id.MemberId,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const { holdAudioUrl, startOnCreate, status } = builder.state
  const member = ConferenceStepBuilder.present(builder, id)
  if (status !== "init" || startOnCreate || holdAudioUrl === undefined || member === null || member.isHeld)
    return builder
  return hold(
    ConferenceStepBuilder.setMember(builder, id, { isWaiting: true }),
    id,
    { isHeld: true, audioUrl: holdAudioUrl },
    context
  )
}

/** The id of the sound that a member hears on hold, in a step that may begin several. */
const soundId = (memberId: Id.MemberId, { seed }: StepContext): Id.WorkId =>
  Id.WorkId.make(Id.deriveOpaque(seed, `hold ${memberId}`))

/** Asks the room to hold a member or to take it off hold. */
export const hold = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  memberId: Id.MemberId,
  { audioUrl, isHeld }: Pick<Extract<MemberChange, { readonly type: "hold" }>, "audioUrl" | "isHeld">,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const holdSound = audioUrl === null ? null : soundId(memberId, context)
  return ConferenceStepBuilder.askPending(
    ConferenceStepBuilder.setMember(builder, memberId, { holdSound }),
    { type: "hold", isHeld, audioUrl, ...(holdSound === null ? {} : { audioId: holdSound }), memberId },
    context
  )
}

/** Reports that the sound of a member on hold cannot be played; null: it is no sound of a member's last hold. */
export const holdFailed = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  playbackId: Id.WorkId,
  reason: string | null,
  endedAt: number
): ConferenceStepBuilder.ConferenceStepBuilder | null => {
  const { state } = builder
  const member = state.members.find((other) => other.holdSound === playbackId && isPresent(other))
  if (member === undefined) return null
  return ConferenceStepBuilder.emit(ConferenceStepBuilder.setMember(builder, member.id, { holdSound: null }), {
    type: "conference.playback_ended",
    data: {
      ...ofRoom(state),
      playbackId,
      status: "failed",
      reason,
      endedAt,
      heldLegId: ofMember(state, member).legId
    }
  })
}

/** Takes the members off hold that the room put there before its start. */
const released = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder =>
  builder.state.members
    .filter(({ isWaiting, phase }) => isWaiting === true && phase === "joined")
    .reduce(
      (open, { id }) =>
        hold(
          ConferenceStepBuilder.setMember(open, id, { isWaiting: false }),
          id,
          { isHeld: false, audioUrl: null },
          context
        ),
      builder
    )

/** Keeps the role that the room has given a member, with one event where it differs from the last. */
export const supervising = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  id: Id.MemberId,
  { role, targets }: Pick<Flags, "role" | "targets">
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const member = ConferenceStepBuilder.present(builder, id)
  if (member === null) return builder
  const { role: wasRole, targets: wasTargets } = member.supervises ?? { role: "none", targets: [] }
  if (role === wasRole && targets.join() === wasTargets.join()) return builder
  const legIdOf = (target: Id.MemberId) => builder.state.members.find((other) => other.id === target)?.legId ?? []
  return ConferenceStepBuilder.emit(ConferenceStepBuilder.setMember(builder, id, { supervises: { role, targets } }), {
    type: "conference.member_role_changed",
    data: {
      ...ofMember(builder.state, member),
      supervisorRole: role,
      whisperLegIds: targets.flatMap(legIdOf)
    }
  })
}

/** Starts the conference once its room is live: at once, or with the second member in it. */
export const start = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  at: number,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const { state } = builder
  const isDue = state.status === "init" && state.room === "live" && (state.startOnCreate || inside(state) >= 2)
  return isDue
    ? released(
        ConferenceStepBuilder.emit(ConferenceStepBuilder.set(builder, { status: "in_progress", startedAt: at }), {
          type: "conference.started",
          data: { ...ofRoom(state), name: state.name, hostCallId: state.hostCallId }
        }),
        context
      )
    : builder
}

/** Ends the member's speaking, with an event if its beginning had one. */
export const silent = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  member: Member
): ConferenceStepBuilder.ConferenceStepBuilder =>
  member.isSpeaking
    ? ConferenceStepBuilder.emit(ConferenceStepBuilder.setMember(builder, member.id, { isSpeaking: false }), {
        type: "conference.member_speaking_ended",
        data: ofMember(builder.state, member)
      })
    : builder

/** Frees a membership and settles its commands, with one event if the member was in the room. The room continues. */
export const freed = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  member: Member,
  at: number,
  reason: LeftReason
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const { joinedAt, phase } = member
  const leftAt = Math.max(at, joinedAt ?? member.createdAt)
  const quiet = ConferenceStepBuilder.settle(
    silent(builder, member),
    // A `remove` stays pending because its outcome is still to come.
    (pending) => "memberId" in pending && pending.memberId === member.id && pending.type !== "remove"
  )
  const out = ConferenceStepBuilder.setMember(quiet, member.id, {
    phase: "left",
    leftAt,
    told: null,
    isSpeaking: false
  })
  return phase === "joined"
    ? ConferenceStepBuilder.emit(out, {
        type: "conference.member_left",
        data: {
          ...ofMember(builder.state, member),
          role: member.role,
          leftAt,
          reason
        }
      })
    : out
}

export const noMember = (param: string): ApiError =>
  ApiError.of("member_not_found", `${param}: no such member is in the room`, param)

export const full = ApiError.of("conference_full", "the conference is full")

export const tooMany = (most: number): ApiError =>
  ApiError.of("unprocessable", `max_participants: your plan has ${most}`, "max_participants")
