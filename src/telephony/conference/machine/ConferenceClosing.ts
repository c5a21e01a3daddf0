import type { StepContext } from "../../../runtime/actor/Machine.ts"
import { type ConferenceState, isCompleted, isSeated } from "./ConferenceState.ts"
import * as ConferenceStepBuilder from "./ConferenceStepBuilder.ts"
import * as RoomPlaybacks from "./RoomPlaybacks.ts"
import * as RoomRecordings from "./RoomRecordings.ts"
import * as RoomMembers from "./RoomMembers.ts"

/** The end of a conference: the conference is terminal with the commit that closes it. */

/** How long the carrier may take to confirm that the room is over. */
export const overMs = 60_000

/**
 * Closes the room: all of its members leave, and their calls and the carrier are notified. `by`: the party that hangs
 * the calls up. `room`: when the room never existed, only calls that were dialled for it are hung up.
 */
export const close = (
  builder: ConferenceStepBuilder.ConferenceStepBuilder,
  by: "api" | "system",
  at: number,
  context: StepContext,
  room: "stood" | "never_stood" = "stood"
): ConferenceStepBuilder.ConferenceStepBuilder => {
  if (isCompleted(builder.state)) return builder
  const emptied = builder.state.members.filter(isSeated).reduce((open, member) => {
    const told = {
      type: "over",
      by,
      ...(room === "never_stood" ? { neverStood: true as const } : {}),
      at: context.now + RoomMembers.firstRetellMs,
      afterMs: RoomMembers.firstRetellMs
    } as const
    const freed = ConferenceStepBuilder.setMember(RoomMembers.freed(open, member, at), member.id, { told })
    return ConferenceStepBuilder.tell(freed, member.callId, RoomMembers.over(open.state.id, member.id, told))
  }, builder)
  const quiet = RoomRecordings.outlive(RoomPlaybacks.closed(emptied, at), at)
  const { state } = quiet
  const ended = ConferenceStepBuilder.emit(
    ConferenceStepBuilder.set(quiet, { status: "completed", endedAt: at, pending: [], lostAt: null }),
    {
      type: "conference.ended",
      data: { conferenceId: state.id, endedAt: at, durationSeconds: durationSeconds(state, at) }
    }
  )
  return state.room === "over" ? ended : ConferenceStepBuilder.askPending(ended, { type: "end" }, context)
}

/** How long the conference was live, in seconds rounded up. */
const durationSeconds = ({ startedAt }: ConferenceState, endedAt: number): number =>
  startedAt === null ? 0 : Math.ceil(Math.max(0, endedAt - startedAt) / 1000)
