import type { StepContext } from "../../../runtime/actor/Machine.ts"
import type { ToCall } from "../../call/Call.ts"
import { ApiError } from "../../../domain/ApiError.ts"
import type * as Id from "../../../domain/Id.ts"
import { type Beep, type ConferenceState, isSeated, type Member, mostLeft } from "./ConferenceState.ts"
import * as Draft from "./Draft.ts"

/** The seats of a conference: who has one, who comes in, and what follows when somebody goes. */

export const seated = (state: ConferenceState): number => state.members.filter(isSeated).length

export const isFull = (state: ConferenceState): boolean => seated(state) >= state.maxParticipants

/** A seat for a call. The host's call that comes back is the host again. */
export const seat = (
  draft: Draft.Draft,
  fields: Pick<Member, "id" | "callId" | "phase"> & Partial<Pick<Member, "isMuted" | "isHeld" | "legId">>,
  now: number
): Draft.Draft => {
  const { hostCallId, members } = draft.state
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
  const left = members.filter((other) => !isSeated(other))
  const forgotten = new Set(left.slice(0, Math.max(0, left.length + 1 - mostLeft)))
  return Draft.set(draft, {
    members: [...members.filter((other) => !forgotten.has(other) || other.told !== null), member]
  })
}

/** When an answer is late, it is asked for again: first after so long, and then after twice as long each time. */
export const firstRetellMs = 10_000
/** A phone may ring for minutes, and its call has nothing to say meanwhile. */
export const ringingRetellMs = 60_000
/** Whoever has not answered by then has nothing to do with the room any more. */
export const longestRetellMs = 2_560_000

/** Tells the call of a seat that it may come in, and remembers to ask again. */
export const callIn = (draft: Draft.Draft, id: Id.MemberId, now: number, afterMs = firstRetellMs): Draft.Draft => {
  const member = Draft.member(draft, id)
  if (member === undefined) return draft
  const told = { type: "enter", by: "system", at: now + afterMs, afterMs } as const
  return enter(Draft.setMember(draft, id, { told }), member)
}

/** As `callIn`, of the one who is told already. */
export const enter = (draft: Draft.Draft, member: Member): Draft.Draft =>
  Draft.tell(draft, member.callId, {
    type: "enter",
    conferenceId: draft.state.id,
    memberId: member.id,
    adapter: draft.state.adapter,
    isHost: member.role === "host",
    isMuted: member.isMuted,
    isHeld: member.isHeld
  })

/** That the seat is over, as it was told. */
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

/** The room has told that the member is in it. */
export const joined = (
  draft: Draft.Draft,
  member: Member,
  legId: Id.LegId,
  at: number,
  context: StepContext
): Draft.Draft => {
  const { state } = draft
  const seen = Draft.emit(Draft.setMember(draft, member.id, { phase: "joined", legId, joinedAt: at, told: null }), {
    type: "conference.member_joined",
    data: {
      conferenceId: state.id,
      memberId: member.id,
      callId: member.callId,
      role: member.role,
      joinedAt: at
    }
  })
  const heard = beeps(state, member, "on_enter") ? Draft.ask(seen, { type: "beep", except: member.id }, context) : seen
  return start(heard, at)
}

/** A room that is live begins at once, or with the second who is in it. */
export const start = (draft: Draft.Draft, at: number): Draft.Draft => {
  const { state } = draft
  const isDue =
    state.status === "init" &&
    state.room === "live" &&
    (state.startOnCreate || state.members.filter(({ phase }) => phase === "joined").length >= 2)
  return isDue
    ? Draft.emit(Draft.set(draft, { status: "in_progress", startedAt: at }), {
        type: "conference.started",
        data: { conferenceId: state.id, name: state.name, hostCallId: state.hostCallId }
      })
    : draft
}

/** It speaks no longer, if it was told that it does. */
export const silent = (draft: Draft.Draft, member: Member): Draft.Draft =>
  member.isSpeaking
    ? Draft.emit(Draft.setMember(draft, member.id, { isSpeaking: false }), {
        type: "conference.member_speaking_ended",
        data: { conferenceId: draft.state.id, memberId: member.id, callId: member.callId }
      })
    : draft

/** A seat is free, and what it was for is over: told once if it was in the room. The room goes on. */
export const freed = (draft: Draft.Draft, member: Member, at: number): Draft.Draft => {
  const { joinedAt, phase } = member
  const leftAt = Math.max(at, joinedAt ?? member.createdAt)
  const quiet = Draft.settle(
    silent(draft, member),
    // A `remove` stays: its outcome is still to come.
    (pending) => "memberId" in pending && pending.memberId === member.id && pending.type !== "remove"
  )
  const out = Draft.setMember(quiet, member.id, { phase: "left", leftAt, told: null, isSpeaking: false })
  return phase === "joined"
    ? Draft.emit(out, {
        type: "conference.member_left",
        data: {
          conferenceId: draft.state.id,
          memberId: member.id,
          callId: member.callId,
          role: member.role,
          leftAt
        }
      })
    : out
}

export const noMember = (param: string): ApiError =>
  ApiError.of("member_not_found", `${param}: no such member is in the room`, param)
