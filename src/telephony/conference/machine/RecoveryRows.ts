import { type Outcome, type StepContext, unchanged } from "../../../runtime/actor/Machine.ts"
import type { MemberFacts, RoomSnapshot } from "../../../carrier/room/Rooms.ts"
import * as Closing from "./Closing.ts"
import type { ConferenceInput } from "./ConferenceInput.ts"
import { type ConferenceState, isCompleted, isSeated } from "./ConferenceState.ts"
import * as Draft from "./Draft.ts"
import * as Leaving from "./Leaving.ts"
import * as DueRows from "./DueRows.ts"
import * as Playbacks from "./Playbacks.ts"
import * as RoomRows from "./RoomRows.ts"
import * as Seats from "./Seats.ts"

/** The room's fate after an absence (src/README.md#recovery). Messages that calls have not answered are repeated. */
export const step = (
  state: ConferenceState,
  { lostAt, snapshot }: Extract<ConferenceInput, { readonly type: "recovered" }>,
  context: StepContext
): Draft.Draft | Outcome<never, never> => {
  const before = Draft.from(state)
  if (state.room === "over") return unchangedOr(before, retold(before, context))
  if (snapshot === null)
    return state.lostAt === null && !isCompleted(state)
      ? retold(Draft.set(before, { lostAt: context.now }), context)
      : unchangedOr(before, retold(before, context))
  const draft = Draft.set(before, { lostAt: null })
  const room = snapshot.rooms[state.id]
  if (room === undefined) return absent(draft, Math.min(Math.max(lostAt, state.createdAt), context.now), context)
  const isSame = state.heard?.incarnation === snapshot.incarnation
  const heard = Draft.set(draft, { heard: { incarnation: snapshot.incarnation, n: room.n } })
  if (isCompleted(state)) return resend(retold(heard, context))
  const live = state.room === "live" ? heard : Draft.settle(Draft.set(heard, { room: "live" }), isCreate)
  const quiet = isSame && state.playbacks.length === 0 ? live : Playbacks.restarted(live, context)
  return resend(retold(Seats.start(members(quiet, room, context), context.now), context))
}

const isCreate = ({ type }: ConferenceState["pending"][number]) => type === "create"

const unchangedOr = (before: Draft.Draft, after: Draft.Draft) => (after === before ? unchanged : after)

/** The carrier has no such room: it never received the command, or lost the room. */
const absent = (draft: Draft.Draft, at: number, context: StepContext): Draft.Draft => {
  const { state } = draft
  if (state.room === "asked" && !isCompleted(state)) return resend(retold(draft, context))
  const gone = Draft.set(draft, { room: "over", pending: [] })
  return isCompleted(state) ? retold(gone, context) : Closing.close(gone, "system", at, context)
}

/** Brings the members and their flags into line with the carrier's snapshot. */
const members = (
  draft: Draft.Draft,
  { members: facts }: RoomSnapshot["rooms"][string],
  context: StepContext
): Draft.Draft => {
  const there = new Map(facts.map((fact) => [fact.memberId, fact]))
  const came = facts.reduce((open, fact) => (isCompleted(open.state) ? open : present(open, fact, context)), draft)
  return draft.state.members.reduce((open, { id }) => {
    const member = Draft.member(open, id)
    return member === undefined || member.phase !== "joined" || there.has(id) || isCompleted(open.state)
      ? open
      : Leaving.left(open, member, context.now, context)
  }, came)
}

const present = (draft: Draft.Draft, fact: MemberFacts, context: StepContext): Draft.Draft => {
  const member = Draft.member(draft, fact.memberId)
  if (member === undefined || !isSeated(member))
    return Draft.askPending(draft, { type: "remove", memberId: fact.memberId }, context)
  const at = Math.min(context.now, Math.max(member.createdAt, context.now - fact.ageMs))
  const inside = member.phase === "joined" ? draft : Seats.joined(draft, member, fact.legId, at, context)
  const muted = RoomRows.muted(
    Draft.settle(
      inside,
      (pending) => pending.type === "mute" && pending.memberId === member.id && pending.isMuted === fact.isMuted
    ),
    member.id,
    fact.isMuted
  )
  return RoomRows.held(
    Draft.settle(
      muted,
      (pending) => pending.type === "hold" && pending.memberId === member.id && pending.isHeld === fact.isHeld
    ),
    member.id,
    fact.isHeld,
    context.now,
    context
  )
}

/** Pending commands may not have arrived. Repeating them is safe: a carrier carries out each command id once. */
const resend = (draft: Draft.Draft): Draft.Draft =>
  draft.state.pending
    .filter((pending) => !draft.commands.includes(pending))
    .reduce((open, pending) => Draft.send(open, pending), draft)

/** A call may have missed its message, or its answer was lost. */
const retold = (draft: Draft.Draft, { now }: StepContext): Draft.Draft =>
  draft.state.members
    .filter(({ id, told }) => told !== null && !draft.tells.some(({ told: { memberId } }) => memberId === id))
    .reduce((open, member) => DueRows.retell(open, member, now, member.told?.afterMs ?? Seats.firstRetellMs), draft)
