import * as EndWhy from "../../../../domain/EndWhy.ts"
import type { EndReason } from "../../../../domain/event/CallEvent.ts"
import type { CallState } from "../CallState.ts"
import * as StepBuilder from "../StepBuilder.ts"
import type { StepContext } from "../StepContext.ts"
import { type Leg, lives } from "./Leg.ts"
import type * as Pending from "./Pending.ts"

/**
 * The request that connects a call with another party and has no outcome yet: a transfer, a bridge or a referral, one
 * at a time. Each accepted one gets exactly one event: its success, or why it failed.
 */
type Connecting = Pending.Of<"dial" | "bridge" | "refer">

const isOf =
  ({ legs }: CallState) =>
  (pending: Pending.Pending): pending is Connecting => {
    switch (pending.type) {
      case "dial":
        return legs.some(({ id, role }) => id === pending.legId && role === "transfer")
      case "bridge":
        return pending.by !== "restart"
      case "refer":
        return pending.completedAt === null
      case "answer":
      case "hangup":
      case "unbridge":
      case "join_room":
      case "leave_room":
        return false
    }
  }

export const find = (state: CallState): Connecting | null => state.pending.find(isOf(state)) ?? null

/** The leg of a transfer that is not connected yet; null: there is none. */
export const transferred = (state: CallState): Leg | null => {
  const connecting = find(state)
  const legId =
    connecting?.type === "dial"
      ? connecting.legId
      : connecting?.type === "bridge" && connecting.by === "transfer"
        ? connecting.peerLegId
        : null
  return state.legs.find(({ id }) => id === legId) ?? null
}

/** Starts or stops the ring-back tone on the call's own leg while another one rings. */
export const ringback = (
  builder: StepBuilder.StepBuilder,
  isOn: boolean,
  context: StepContext
): StepBuilder.StepBuilder => {
  const { state } = builder
  const [leg] = state.legs
  return leg === undefined || !lives(leg) || leg.gone
    ? builder
    : StepBuilder.send(builder, {
        type: "media",
        commandId: StepBuilder.nextCommandId(builder, context),
        callId: state.id,
        legId: leg.id,
        tenantId: state.tenantId,
        media: { type: "ringback", isOn }
      })
}

const settled = (builder: StepBuilder.StepBuilder, connecting: Connecting): StepBuilder.StepBuilder =>
  StepBuilder.settle(builder, (pending) => pending === connecting)

/** The leg of a transfer was not connected: it has ended, or is about to. */
export const transferFailed = (
  builder: StepBuilder.StepBuilder,
  leg: Leg,
  why: { readonly reason: EndReason; readonly sipStatus: number | null; readonly why: EndWhy.Code },
  at: number
): StepBuilder.StepBuilder =>
  StepBuilder.emit(
    StepBuilder.settle(
      builder,
      (pending) =>
        (pending.type === "dial" && pending.legId === leg.id) ||
        (pending.type === "bridge" && pending.peerLegId === leg.id && pending.by === "transfer")
    ),
    {
      type: "call.transfer_failed",
      data: {
        ...StepBuilder.ids(builder.state, leg.id),
        endReason: why.reason,
        why: EndWhy.of(why.why),
        sipStatus: why.sipStatus,
        failedAt: at
      }
    }
  )

export const bridgeFailed = (
  builder: StepBuilder.StepBuilder,
  bridge: Pending.Of<"bridge">,
  reason: "leg_ended" | "call_ended" | "timeout" | "carrier_error",
  at: number
): StepBuilder.StepBuilder =>
  bridge.by === "restart"
    ? settled(builder, bridge)
    : StepBuilder.emit(settled(builder, bridge), {
        type: "call.bridge_failed",
        data: { ...StepBuilder.ids(builder.state, bridge.legId), bridgedLegId: bridge.peerLegId, reason, failedAt: at }
      })

/** Fails a bridge of the call's own leg with this leg, because this leg has ended. */
export const peerEnded = (builder: StepBuilder.StepBuilder, leg: Leg, at: number): StepBuilder.StepBuilder => {
  const bridge = builder.state.pending.find(
    (pending): pending is Pending.Of<"bridge"> =>
      pending.type === "bridge" && pending.by !== "transfer" && pending.peerLegId === leg.id
  )
  return bridge === undefined ? builder : bridgeFailed(builder, bridge, "leg_ended", at)
}

export const referFailed = (
  builder: StepBuilder.StepBuilder,
  refer: Pending.Of<"refer">,
  why: {
    readonly reason: "rejected" | "failed" | "timeout" | "call_ended" | "carrier_error" | "service_restarted"
    readonly sipStatus: number | null
  },
  at: number
): StepBuilder.StepBuilder =>
  StepBuilder.emit(settled(builder, refer), {
    type: "call.refer_failed",
    data: { ...StepBuilder.ids(builder.state, refer.legId), ...why, failedAt: at }
  })

export const referCompleted = (
  builder: StepBuilder.StepBuilder,
  refer: Pending.Of<"refer">,
  sipStatus: number | null,
  at: number
): StepBuilder.StepBuilder =>
  StepBuilder.emit(builder, {
    type: "call.refer_completed",
    data: { ...StepBuilder.ids(builder.state, refer.legId), sipStatus, completedAt: at }
  })

/** The call ends before the outcome. `byFar`: the far end hung up, as it does once it has followed a referral. */
export const abandoned = (builder: StepBuilder.StepBuilder, byFar: boolean, at: number): StepBuilder.StepBuilder => {
  const connecting = find(builder.state)
  if (connecting === null) return builder
  switch (connecting.type) {
    case "refer":
      return byFar && connecting.acceptedAt !== null
        ? settled(referCompleted(builder, connecting, null, at), connecting)
        : referFailed(builder, connecting, { reason: "call_ended", sipStatus: null }, at)
    case "dial":
    case "bridge": {
      const leg = transferred(builder.state)
      return leg === null
        ? connecting.type === "bridge"
          ? bridgeFailed(builder, connecting, "call_ended", at)
          : builder
        : transferFailed(builder, leg, { reason: "cancelled", sipStatus: null, why: "call_ended" }, at)
    }
  }
}
