import { type Outcome, type StepContext, unchanged } from "../../../runtime/actor/Machine.ts"
import type { MemberFacts, RoomSnapshot } from "../../../carrier/room/Rooms.ts"
import * as ConferenceClosing from "./ConferenceClosing.ts"
import type { ConferenceInput } from "./ConferenceInput.ts"
import { type ConferenceState, isCompleted, isPresent } from "./ConferenceState.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"
import * as MemberChanges from "./MemberChanges.ts"
import * as OnConferenceDeadline from "./OnConferenceDeadline.ts"
import * as RoomPlaybacks from "./RoomPlaybacks.ts"
import * as RoomMembers from "./RoomMembers.ts"

/**
 * The room's fate after an absence (src/telephony/README.md#recovery). Messages that calls have not answered are
 * repeated.
 */
export const step = (
  state: ConferenceState,
  { lostAt, snapshot }: Extract<ConferenceInput, { readonly type: "recovered" }>,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder | Outcome<never, never> => {
  const before = ConferenceStepBuilder.from(state)
  if (state.room === "over") return unchangedOr(before, retold(before, context))
  if (snapshot === null)
    return state.lostAt === null && !isCompleted(state)
      ? retold(ConferenceStepBuilder.set(before, { lostAt: context.now }), context)
      : unchangedOr(before, retold(before, context))
  const builder = ConferenceStepBuilder.set(before, { lostAt: null })
  const room = snapshot.rooms[state.id]
  if (room === undefined) return absent(builder, Math.min(Math.max(lostAt, state.createdAt), context.now), context)
  const isSame = state.heard?.incarnation === snapshot.incarnation
  const heard = ConferenceStepBuilder.set(builder, { heard: { incarnation: snapshot.incarnation, n: room.n } })
  if (isCompleted(state)) return resend(retold(heard, context))
  const live =
    state.room === "live"
      ? heard
      : ConferenceStepBuilder.settle(ConferenceStepBuilder.set(heard, { room: "live" }), isCreate)
  const quiet = isSame && state.playbacks.length === 0 ? live : RoomPlaybacks.restarted(live, context)
  return resend(retold(RoomMembers.start(members(quiet, room, context), context.now, context), context))
}

const isCreate = ({ type }: ConferenceState["pending"][number]) => type === "create"

const unchangedOr = (
  before: ConferenceStepBuilder.ConferenceStepBuilder,
  after: ConferenceStepBuilder.ConferenceStepBuilder
) => (after === before ? unchanged : after)

/** The carrier has no such room: it never received the command, or lost the room. */
const absent = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  at: number,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const { state } = builder
  if (state.room === "asked" && !isCompleted(state)) return resend(retold(builder, context))
  const gone = ConferenceStepBuilder.set(builder, { room: "over", pending: [] })
  return isCompleted(state) ? retold(gone, context) : ConferenceClosing.close(gone, "carrier", at, context)
}

/** Brings the members and their flags into line with the carrier's snapshot. */
const members = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  { members: facts }: RoomSnapshot["rooms"][string],
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const there = new Map(facts.map((fact) => [fact.memberId, fact]))
  const came = facts.reduce((open, fact) => (isCompleted(open.state) ? open : present(open, fact, context)), builder)
  return builder.state.members.reduce((open, { id }) => {
    const member = ConferenceStepBuilder.member(open, id)
    return member === undefined || member.phase !== "joined" || there.has(id) || isCompleted(open.state)
      ? open
      : ConferenceClosing.left(open, member, "carrier", context.now, context)
  }, came)
}

const present = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  fact: MemberFacts,
  context: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder => {
  const member = ConferenceStepBuilder.member(builder, fact.memberId)
  if (member === undefined || !isPresent(member))
    return ConferenceStepBuilder.askPending(builder, { type: "remove", memberId: fact.memberId }, context)
  const at = Math.min(context.now, Math.max(member.createdAt, context.now - fact.ageMs))
  const inside = member.phase === "joined" ? builder : RoomMembers.joined(builder, member, fact.legId, at, context)
  return MemberChanges.found(inside, member.id, fact, context)
}

/** Pending commands may not have arrived. Repeating them is safe: a carrier carries out each command id once. */
const resend = (builder: ConferenceStepBuilder.ConferenceStepBuilder): ConferenceStepBuilder.ConferenceStepBuilder =>
  builder.state.pending
    .filter((pending) => !builder.commands.includes(pending))
    .reduce((open, pending) => ConferenceStepBuilder.send(open, pending), builder)

/** A call may have missed its message, or its answer was lost. */
const retold = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  { now }: StepContext
): ConferenceStepBuilder.ConferenceStepBuilder =>
  builder.state.members
    .filter(({ id, told }) => told !== null && !builder.tells.some(({ told: { memberId } }) => memberId === id))
    .reduce(
      (open, member) =>
        OnConferenceDeadline.retell(open, member, now, member.told?.afterMs ?? RoomMembers.firstRetellMs),
      builder
    )
