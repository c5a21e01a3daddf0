import type { StepContext } from "../../../runtime/actor/Machine.ts"
import { type ConferenceState, isCompleted, isSeated } from "./ConferenceState.ts"
import * as Draft from "./Draft.ts"
import * as Playbacks from "./Playbacks.ts"
import * as Recordings from "./Recordings.ts"
import * as Seats from "./Seats.ts"

/** The end of a conference: the conference is terminal with the commit that closes it. */

/** How long the carrier may take to confirm that the room is over. */
export const overMs = 60_000

/**
 * Closes the room: all of its members leave, and their calls and the carrier are notified. `by`: the party that hangs
 * the calls up. `room`: when the room never existed, only calls that were dialled for it are hung up.
 */
export const close = (
  draft: Draft.Draft,
  by: "api" | "system",
  at: number,
  context: StepContext,
  room: "stood" | "never_stood" = "stood"
): Draft.Draft => {
  if (isCompleted(draft.state)) return draft
  const emptied = draft.state.members.filter(isSeated).reduce((open, member) => {
    const told = {
      type: "over",
      by,
      ...(room === "never_stood" ? { neverStood: true as const } : {}),
      at: context.now + Seats.firstRetellMs,
      afterMs: Seats.firstRetellMs
    } as const
    const freed = Draft.setMember(Seats.freed(open, member, at), member.id, { told })
    return Draft.tell(freed, member.callId, Seats.over(open.state.id, member.id, told))
  }, draft)
  const quiet = Recordings.outlive(Playbacks.closed(emptied, at), at)
  const { state } = quiet
  const ended = Draft.emit(Draft.set(quiet, { status: "completed", endedAt: at, pending: [], lostAt: null }), {
    type: "conference.ended",
    data: { conferenceId: state.id, endedAt: at, durationSeconds: durationSeconds(state, at) }
  })
  return state.room === "over" ? ended : Draft.askPending(ended, { type: "end" }, context)
}

/** How long the conference was live, in seconds rounded up. */
const durationSeconds = ({ startedAt }: ConferenceState, endedAt: number): number =>
  startedAt === null ? 0 : Math.ceil(Math.max(0, endedAt - startedAt) / 1000)
