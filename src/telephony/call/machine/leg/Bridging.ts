import { type Outcome, unchanged } from "../../../../runtime/actor/Machine.ts"
import type { CarrierEvent } from "../../../../carrier/Carrier.ts"
import { type CallState, primary } from "../CallState.ts"
import * as StepBuilder from "../StepBuilder.ts"
import { end } from "../CallEnding.ts"
import * as EndReason from "../EndReason.ts"
import * as Membership from "../room/Membership.ts"
import type { StepContext } from "../StepContext.ts"
import * as Connecting from "./Connecting.ts"
import { type Leg, lives } from "./Leg.ts"
import * as LegOver from "./LegOver.ts"

/**
 * Bridges, guide/calls.md#bridge. The carrier joins two legs and reports it to the call of each; neither call waits for
 * the other. A leg whose peer ends is hung up. A leg whose peer is taken away is `answered` again, without an event.
 */
type Result = StepBuilder.StepBuilder | Outcome<never, never>

/** Whether the peer is a leg of another call. */
const isForeign = (state: CallState, callId: string): boolean => callId !== state.id

export const bridged = (
  builder: StepBuilder.StepBuilder,
  leg: Leg,
  { peerCallId, peerLegId }: Extract<CarrierEvent, { readonly type: "bridged" }>,
  at: number,
  context: StepContext
): Result => {
  const settled = StepBuilder.settle(
    builder,
    (pending) => pending.type === "bridge" && pending.legId === leg.id && pending.peerLegId === peerLegId
  )
  const same = settled === builder ? unchanged : settled
  const { state } = builder
  if (!lives(leg) || leg.answeredAt === null || leg.bridge?.legId === peerLegId) return same
  // The end of that peer decides about the call.
  if (!isForeign(state, peerCallId) && !state.legs.some((peer) => peer.id === peerLegId && lives(peer))) return same
  // A leg in a room has left it for the bridge. A leg that is about to enter still will, and then leaves the bridge.
  const free = leg.role === "primary" && state.room?.phase === "in" ? Membership.over(settled, at) : settled
  const joined = StepBuilder.setLeg(free, leg.id, {
    status: "bridged",
    bridge: { legId: peerLegId, callId: peerCallId, since: at }
  })
  if (leg.role !== "primary") return joined
  const told = StepBuilder.emit(StepBuilder.set(joined, { status: "bridged", letGo: null }), {
    type: "call.bridged",
    data: {
      ...StepBuilder.ids(state, leg.id),
      bridgedCallId: isForeign(state, peerCallId) ? peerCallId : null,
      bridgedLegId: peerLegId,
      conferenceId: null,
      bridgedAt: at
    }
  })
  return isForeign(state, peerCallId) ? dropped(told, at, context) : told
}

/** The leg of a transfer that the call's own leg is bridged with; null: none. */
export const ownPeer = (state: CallState): Leg | null =>
  state.legs.find(({ id }) => id === primary(state).bridge?.legId) ?? null

/** Another call has the leg. The carrier still owes the outcomes of earlier commands for it. */
const isElsewhere = ({ bridge }: Leg, own: Leg): boolean => bridge !== null && bridge.legId !== own.id

/** The call's own leg has another partner now: hangs up the legs that were dialled for it and have no partner. */
const dropped = (builder: StepBuilder.StepBuilder, at: number, context: StepContext): StepBuilder.StepBuilder => {
  const own = primary(builder.state)
  const connecting = Connecting.transferred(builder.state)
  const first =
    connecting === null || isElsewhere(connecting, own)
      ? builder
      : Connecting.transferFailed(
          Connecting.ringback(builder, false, context),
          connecting,
          { reason: "cancelled", sipStatus: null, why: "connected_elsewhere" },
          at
        )
  return first.state.legs.reduce(
    (open, leg) =>
      leg.role === "transfer" && !isElsewhere(leg, own)
        ? LegOver.leave(open, leg, EndReason.hungUp(leg, "api", "connected_elsewhere"), at, context)
        : open,
    first
  )
}

export const unbridged = (
  builder: StepBuilder.StepBuilder,
  leg: Leg,
  { peerEnded, peerLegId }: Extract<CarrierEvent, { readonly type: "unbridged" }>,
  at: number,
  context: StepContext
): Result => {
  const { state } = builder
  const settled = StepBuilder.settle(builder, ({ legId, type }) => type === "unbridge" && legId === leg.id)
  if (leg.bridge?.legId !== peerLegId) return settled === builder ? unchanged : settled
  if (!peerEnded) return parted(settled, leg)
  // The end of a leg of this call is reported by that leg itself.
  if (!isForeign(state, leg.bridge.callId)) return settled === builder ? unchanged : settled
  const ending = EndReason.ofPeer({ reason: "normal_clearing", initiator: "callee" }, state.direction)
  if (leg.role === "primary") return end(settled, ending, at, context)
  const left = LegOver.leave(settled, leg, ending, at, context)
  // Another call had taken it before it was connected here.
  return Connecting.transferred(settled.state)?.id === leg.id
    ? Connecting.transferFailed(left, leg, { reason: ending.reason, sipStatus: null, why: ending.why }, at)
    : left
}

/** Removes the bridge of a leg. */
const parted = (builder: StepBuilder.StepBuilder, leg: Leg): StepBuilder.StepBuilder => {
  const by = StepBuilder.setLeg(builder, leg.id, { status: "answered", bridge: null })
  return leg.role === "primary" ? StepBuilder.set(by, { status: "answered" }) : by
}

/**
 * Takes the call's own leg out of its bridge, because it is wanted elsewhere: a leg that was dialled for it is hung up,
 * and a leg of another call stays.
 */
export const leave = (builder: StepBuilder.StepBuilder, at: number, context: StepContext): StepBuilder.StepBuilder => {
  const { state } = builder
  const own = primary(state)
  if (own.bridge === null) return builder
  const alone = parted(builder, own)
  const peer = ownPeer(state)
  if (peer !== null)
    return LegOver.leave(alone, peer, EndReason.hungUp(peer, "api", "connected_elsewhere"), at, context)
  const commandId = StepBuilder.nextCommandId(alone, context)
  return StepBuilder.sendPending(
    alone,
    { type: "unbridge", commandId, legId: own.id, since: context.now },
    { type: "unbridge", commandId, callId: state.id, legId: own.id }
  )
}

/** Frees the call's own leg for another partner; a transfer that is under way is given up, too. */
export const alone = (builder: StepBuilder.StepBuilder, at: number, context: StepContext): StepBuilder.StepBuilder =>
  dropped(leave(builder, at, context), at, context)

/** Requests a bridge for the call's own leg. */
export const ask = (
  builder: StepBuilder.StepBuilder,
  peer: { readonly legId: Leg["id"]; readonly callId: CallState["id"] },
  by: "transfer" | "bridge" | "restart",
  context: StepContext
): StepBuilder.StepBuilder => {
  const { state } = builder
  const legId = primary(state).id
  const commandId = StepBuilder.nextCommandId(builder, context)
  const to = { peerLegId: peer.legId, peerCallId: peer.callId }
  return StepBuilder.sendPending(
    builder,
    { type: "bridge", commandId, legId, since: context.now, by, ...to },
    { type: "bridge", commandId, callId: state.id, legId, ...to }
  )
}

/** Handles a failed bridge: a transfer's leg is hung up unless another call has it, and the call continues. */
export const failed = (
  builder: StepBuilder.StepBuilder,
  pending: Extract<CallState["pending"][number], { readonly type: "bridge" }>,
  reason: "leg_ended" | "timeout" | "carrier_error",
  at: number,
  context: StepContext
): StepBuilder.StepBuilder => {
  const leg = pending.by === "transfer" ? builder.state.legs.find(({ id }) => id === pending.peerLegId) : undefined
  if (leg === undefined) return Connecting.bridgeFailed(builder, pending, reason, at)
  return isElsewhere(leg, primary(builder.state))
    ? Connecting.transferFailed(builder, leg, { reason: "cancelled", sipStatus: null, why: "connected_elsewhere" }, at)
    : LegOver.ended(
        builder,
        leg,
        {
          status: "ended",
          reason: "carrier_error",
          initiator: "carrier",
          why: reason === "leg_ended" ? "bridged_leg_ended" : "carrier_failed"
        },
        null,
        at,
        context
      )
}
