import type { EndReason } from "../../../../domain/event/CallEvent.ts"
import type { CallState } from "../CallState.ts"
import * as Draft from "../Draft.ts"
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
export const ringback = (draft: Draft.Draft, isOn: boolean, context: StepContext): Draft.Draft => {
  const { state } = draft
  const [leg] = state.legs
  return leg === undefined || !lives(leg) || leg.gone
    ? draft
    : Draft.send(draft, {
        type: "media",
        commandId: Draft.nextCommandId(draft, context),
        callId: state.id,
        legId: leg.id,
        tenantId: state.tenantId,
        media: { type: "ringback", isOn }
      })
}

const settled = (draft: Draft.Draft, connecting: Connecting): Draft.Draft =>
  Draft.settle(draft, (pending) => pending === connecting)

/** The leg of a transfer was not connected: it has ended, or is about to. */
export const transferFailed = (
  draft: Draft.Draft,
  leg: Leg,
  why: { readonly reason: EndReason; readonly sipStatus: number | null },
  at: number
): Draft.Draft =>
  Draft.emit(
    Draft.settle(
      draft,
      (pending) =>
        (pending.type === "dial" && pending.legId === leg.id) ||
        (pending.type === "bridge" && pending.peerLegId === leg.id && pending.by === "transfer")
    ),
    {
      type: "call.transfer_failed",
      data: { ...Draft.ids(draft.state, leg.id), endReason: why.reason, sipStatus: why.sipStatus, failedAt: at }
    }
  )

export const bridgeFailed = (
  draft: Draft.Draft,
  bridge: Pending.Of<"bridge">,
  reason: "leg_ended" | "call_ended" | "timeout" | "carrier_error",
  at: number
): Draft.Draft =>
  bridge.by === "restart"
    ? settled(draft, bridge)
    : Draft.emit(settled(draft, bridge), {
        type: "call.bridge_failed",
        data: { ...Draft.ids(draft.state, bridge.legId), bridgedLegId: bridge.peerLegId, reason, failedAt: at }
      })

/** Fails a bridge of the call's own leg with this leg, because this leg has ended. */
export const peerEnded = (draft: Draft.Draft, leg: Leg, at: number): Draft.Draft => {
  const bridge = draft.state.pending.find(
    (pending): pending is Pending.Of<"bridge"> =>
      pending.type === "bridge" && pending.by !== "transfer" && pending.peerLegId === leg.id
  )
  return bridge === undefined ? draft : bridgeFailed(draft, bridge, "leg_ended", at)
}

export const referFailed = (
  draft: Draft.Draft,
  refer: Pending.Of<"refer">,
  why: {
    readonly reason: "rejected" | "failed" | "timeout" | "call_ended" | "carrier_error" | "service_restarted"
    readonly sipStatus: number | null
  },
  at: number
): Draft.Draft =>
  Draft.emit(settled(draft, refer), {
    type: "call.refer_failed",
    data: { ...Draft.ids(draft.state, refer.legId), ...why, failedAt: at }
  })

export const referCompleted = (
  draft: Draft.Draft,
  refer: Pending.Of<"refer">,
  sipStatus: number | null,
  at: number
): Draft.Draft =>
  Draft.emit(draft, {
    type: "call.refer_completed",
    data: { ...Draft.ids(draft.state, refer.legId), sipStatus, completedAt: at }
  })

/** The call ends before the outcome. `byFar`: the far end hung up, as it does once it has followed a referral. */
export const abandoned = (draft: Draft.Draft, byFar: boolean, at: number): Draft.Draft => {
  const connecting = find(draft.state)
  if (connecting === null) return draft
  switch (connecting.type) {
    case "refer":
      return byFar && connecting.acceptedAt !== null
        ? settled(referCompleted(draft, connecting, null, at), connecting)
        : referFailed(draft, connecting, { reason: "call_ended", sipStatus: null }, at)
    case "dial":
    case "bridge": {
      const leg = transferred(draft.state)
      return leg === null
        ? connecting.type === "bridge"
          ? bridgeFailed(draft, connecting, "call_ended", at)
          : draft
        : transferFailed(draft, leg, { reason: "cancelled", sipStatus: null }, at)
    }
  }
}
