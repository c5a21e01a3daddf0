import { type CallState, isTerminal, primary } from "../CallState.ts"
import * as Meter from "../Meter.ts"
import type { ToCall, ToConference } from "./RoomTell.ts"
import * as Membership from "./Membership.ts"

/** The messages of a call to conferences: a function of its committed state. */
type Refused = Extract<ToConference, { readonly type: "refused" }>["reason"]
type Enter = Extract<ToCall, { readonly type: "enter" }>

/** Why the call cannot take a membership, apart from its price; null: it can. */
const refusal = (state: CallState): Refused | null =>
  isTerminal(state)
    ? "gone"
    : state.answeredAt === null
      ? "not_answered"
      : state.room !== null
        ? "in_another_room"
        : state.meters.length >= Meter.most
          ? "carrier_error"
          : null

/** The messages about a commit's change of the membership. A call has each membership once, so it leaves each once. */
export const ofChange = (before: CallState | null, state: CallState): ReadonlyArray<ToConference> => {
  const [was, is] = [before?.room ?? null, state.room]
  if (was === is) return []
  const callId = state.id
  return [
    ...(was === null || was.memberId === is?.memberId
      ? []
      : [
          { type: "left" as const, conferenceId: was.conferenceId, memberId: was.memberId, callId, ...callOver(state) }
        ]),
    ...(is === null || is.phase === "dialled" || (was?.memberId === is.memberId && was.phase !== "dialled")
      ? []
      : [entered(state, is)])
  ]
}

const callOver = (state: CallState) => (isTerminal(state) ? { isCallOver: true as const } : {})

const entered = (state: CallState, { conferenceId, memberId }: NonNullable<CallState["room"]>): ToConference => ({
  type: "entered",
  conferenceId,
  memberId,
  callId: state.id,
  legId: primary(state).id
})

/**
 * The answer to a message that changed nothing; null: there is none yet, because the call was dialled for this
 * membership and is not answered.
 */
export const of = (state: CallState, tell: ToCall): ToConference | null => {
  const { conferenceId, memberId } = tell
  const membership = { conferenceId, memberId, callId: state.id }
  if (state.room?.memberId === memberId) return state.room.phase === "dialled" ? null : entered(state, state.room)
  if (tell.type === "over" || Membership.isKnown(state, memberId))
    return { ...membership, type: "left", ...callOver(state) }
  // A call that could take a membership and has not taken it could not pay for it.
  return { ...membership, type: "refused", reason: refusal(state) ?? "balance_insufficient" }
}

/** The answer for a call that does not exist. */
export const ofNobody = (callId: CallState["id"], { conferenceId, memberId, type }: ToCall): ToConference => {
  const membership = { conferenceId, memberId, callId }
  return type === "over"
    ? { ...membership, type: "left", isCallOver: true }
    : { ...membership, type: "refused", reason: "gone" }
}

/** The meter of a stay that begins with this message; null: none does. */
export const meterOf = (state: CallState, { memberId }: Enter): Meter.Meter | null =>
  refusal(state) !== null || Membership.isKnown(state, memberId)
    ? null
    : Meter.ofStay(memberId, primary(state), state.prices.conference, 0)
