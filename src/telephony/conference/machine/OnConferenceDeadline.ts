import type { Deadline, Outcome, StepContext } from "../../../runtime/actor/Machine.ts"
import { unchanged } from "../../../runtime/actor/Machine.ts"
import * as ConferenceClosing from "./ConferenceClosing.ts"
import type { ConferenceInput, Deadline as Name } from "./ConferenceInput.ts"
import { type ConferenceState, isCompleted, isPresent, type Member } from "./ConferenceState.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"
import * as RecordingMoney from "./RecordingMoney.ts"
import * as RoomRecordings from "./RoomRecordings.ts"
import * as RoomMembers from "./RoomMembers.ts"

/** Due deadlines: every state has its deadlines, and no conference lives for ever. */

/** How long the carrier may take to create the room. */
const liveMs = 30_000
/** How long a conference waits for a carrier that cannot be asked. */
const lostMs = 60_000
const minuteMs = 60_000

/** All deadlines of the state. */
const dues = (state: ConferenceState): ReadonlyArray<readonly [at: number, deadline: Name]> => {
  const told = state.members.flatMap((member) => (member.told === null ? [] : [member.told.at]))
  const unpaidAt = RecordingMoney.unpaidAt(state)
  const stored = state.recordings.flatMap(({ until }) => (until === null ? [] : [until]))
  return [
    ...(told.length === 0 ? [] : [[Math.min(...told), "told"] as const]),
    ...(stored.length === 0 ? [] : [[Math.min(...stored), "stored"] as const]),
    ...(unpaidAt === null ? [] : [[unpaidAt, "unpaid"] as const]),
    ...(isCompleted(state)
      ? state.room === "over"
        ? []
        : [[(state.endedAt ?? state.at) + ConferenceClosing.overMs, "over"] as const]
      : [
          ...(state.room === "asked" ? [[state.createdAt + liveMs, "live"] as const] : []),
          ...(state.lostAt === null ? [] : [[state.lostAt + lostMs, "lost"] as const]),
          ...(state.aloneAt == null || state.endWhenAloneSecs == null
            ? []
            : [[state.aloneAt + state.endWhenAloneSecs * 1000, "alone"] as const]),
          state.startedAt === null
            ? ([state.createdAt + state.durationMinutes * minuteMs, "unstarted"] as const)
            : ([state.startedAt + state.durationMinutes * minuteMs, "duration"] as const)
        ])
  ]
}

export const next = (state: ConferenceState): Deadline<ConferenceInput> | null => {
  const renewsAt = RecordingMoney.renewsAt(state)
  const renewal =
    renewsAt === null ? null : ({ at: renewsAt, input: { type: "renewal", reservedMinutes: null } } as const)
  const [first, ...more] = dues(state)
  if (first === undefined) return renewal
  const [at, deadline] = more.reduce((one, other) => (other[0] < one[0] ? other : one), first)
  // The renewal is due as a refusal: the shell asks the account first, and puts its answer in that place.
  return renewal !== null && renewal.at < at ? renewal : { at, input: { type: "deadline", deadline } }
}

export const step = (
  state: ConferenceState,
  { deadline }: Extract<ConferenceInput, { readonly type: "deadline" }>,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder | Outcome<never, never> => {
  const { now } = context
  const due = dues(state).find(([at, name]) => name === deadline && at <= now)
  if (due === undefined) return unchanged
  const builder = ConferenceStepBuilder.from(state)
  switch (deadline) {
    case "live":
    case "unstarted":
    case "duration": {
      const room = deadline === "live" ? "never_stood" : "stood"
      // The end is dated to its deadline, but not before the last input, because the room was still live then.
      const reason = deadline === "live" ? "carrier" : "duration"
      return ConferenceClosing.close(builder, reason, Math.max(due[0], state.at), context, room)
    }
    case "alone":
      return ConferenceClosing.close(builder, "alone", Math.max(due[0], state.at), context)
    case "lost":
      return ConferenceClosing.close(ConferenceStepBuilder.set(builder, { room: "over" }), "carrier", now, context)
    case "told":
      return retold(builder, context)
    case "stored":
      return RoomRecordings.expired(builder, now)
    case "unpaid":
      return RoomRecordings.stop(builder, context)
    case "over":
      return ConferenceStepBuilder.set(builder, { room: "over", pending: [] })
  }
}

/** Sends a call again the message that it has not answered. */
export const retell = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  member: Member,
  now: number,
  afterMs: number
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const { told } = member
  if (told === null) return builder
  const later = ConferenceStepBuilder.setMember(builder, member.id, { told: { ...told, at: now + afterMs, afterMs } })
  return told.type === "enter"
    ? RoomMembers.enter(later, member)
    : ConferenceStepBuilder.tell(later, member.callId, RoomMembers.over(builder.state.id, member.id, told))
}

const retold = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder =>
  builder.state.members.reduce((open, { id }) => {
    const member = ConferenceStepBuilder.member(open, id)
    if (member === undefined || member.told === null || member.told.at > context.now) return open
    if (member.told.afterMs < RoomMembers.longestRetellMs)
      return retell(open, member, context.now, member.told.afterMs * 2)
    // The call never answered.
    return isPresent(member)
      ? ConferenceClosing.left(open, member, "carrier", context.now, context)
      : ConferenceStepBuilder.setMember(open, id, { told: null })
  }, builder)
