import type { MemberId } from "../../../../domain/Id.ts"
import { type CallState, primary } from "../CallState.ts"
import * as StepBuilder from "../StepBuilder.ts"
import * as Meter from "../Meter.ts"

/**
 * A stay of the call's own leg in a room: from its membership to the moment at which the call no longer has that
 * membership.
 */

/** Whether the call has, or had, this membership. Each stay has a meter, and those are never removed. */
export const isKnown = ({ meters }: CallState, memberId: MemberId): boolean =>
  meters.some(({ workId }) => workId === memberId)

/** Gives up the membership. The leg is `answered` again, without an event, unless it has another partner. */
export const over = (builder: StepBuilder.StepBuilder, at: number): StepBuilder.StepBuilder => {
  const { room } = builder.state
  if (room === null) return builder
  const left = StepBuilder.settle(
    StepBuilder.set(builder, { room: null, meters: Meter.workEnded(builder.state.meters, room.memberId, at) }),
    (pending) => pending.type === "join_room" && pending.memberId === room.memberId
  )
  const leg = primary(left.state)
  return room.phase === "in" && leg.bridge === null
    ? StepBuilder.set(StepBuilder.setLeg(left, leg.id, { status: "answered" }), { status: "answered" })
    : left
}
