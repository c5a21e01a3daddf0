import * as StepBuilder from "../StepBuilder.ts"
import { end as endCall } from "../CallEnding.ts"
import type { Ending } from "../EndReason.ts"
import * as EndReason from "../EndReason.ts"
import * as Meter from "../Meter.ts"
import type { StepContext } from "../StepContext.ts"
import { primary } from "../CallState.ts"
import * as Connecting from "./Connecting.ts"
import { type Leg, lives } from "./Leg.ts"
import { release } from "./Release.ts"

/**
 * The end of a leg that `transfer` dialled, guide/calls.md#transfer. The leg is charged for its minutes, and the rest
 * of its reservation is released.
 */

/** Ends the leg with all that is bound to it, and takes it down if it still exists. The call continues. */
export const leave = (
  builder: StepBuilder.StepBuilder,
  leg: Leg,
  ending: Ending,
  at: number,
  context: StepContext
): StepBuilder.StepBuilder => {
  if (!lives(leg)) return builder
  const endedAt = Math.max(at, leg.answeredAt ?? leg.initiatedAt)
  const closed = context.work.legEnded(builder, leg.id, endedAt)
  const { state } = closed
  const over = StepBuilder.setLeg(
    StepBuilder.set(closed, {
      meters: Meter.legEnded(state.meters, leg.id, endedAt),
      pending: state.pending.filter(({ legId, type }) => legId !== leg.id || type === "hangup")
    }),
    leg.id,
    {
      status: ending.status,
      endedAt,
      endReason: ending.reason,
      endInitiator: ending.initiator,
      ...(state.rules === undefined ? { endWhy: ending.why } : {}),
      bridge: null,
      lost: null
    }
  )
  const told = Connecting.peerEnded(over, leg, at)
  const isGone = told.state.legs.some(({ gone, id }) => gone && id === leg.id)
  return isGone || told.state.pending.some(({ legId, type }) => legId === leg.id && type === "hangup")
    ? told
    : release(told, leg, context, null, StepBuilder.nextCommandId(told, context))
}

/**
 * Handles the end of the leg by itself or by its far end. If it was not connected yet, the transfer has failed and the
 * call continues; if it was, the call that it was bridged with is over.
 */
export const ended = (
  builder: StepBuilder.StepBuilder,
  leg: Leg,
  ending: Ending,
  sipStatus: number | null,
  at: number,
  context: StepContext
): StepBuilder.StepBuilder => {
  const connecting = Connecting.transferred(builder.state)?.id === leg.id
  const left = leave(builder, leg, ending, at, context)
  if (connecting)
    return Connecting.transferFailed(
      Connecting.ringback(left, false, context),
      leg,
      { reason: ending.reason, sipStatus, why: ending.why },
      at
    )
  return primary(left.state).bridge?.legId === leg.id
    ? endCall(left, EndReason.ofPeer(ending, left.state.direction), at, context)
    : left
}
