import type { LegEnd } from "../../../carrier/Carrier.ts"
import * as SipStatus from "../../../carrier/SipStatus.ts"
import type * as EndWhy from "../../../domain/EndWhy.ts"
import type { EndInitiator, EndReason } from "../../../domain/event/CallEvent.ts"

/** Why a call ended, and which party ended it, guide/calls.md#why-a-call-ended. */
export interface Ending {
  readonly status: "ended" | "failed"
  readonly reason: EndReason
  readonly initiator: EndInitiator
  readonly why: EndWhy.Code
}

/** The ending of a call or a leg that was hung up on our side. */
export const hungUp = (
  { answeredAt }: { readonly answeredAt: number | null },
  initiator: EndInitiator,
  why: EndWhy.Code
): Ending => ({
  status: "ended",
  reason: answeredAt === null ? "cancelled" : "normal_clearing",
  initiator,
  why
})

/** The ending of a call or a leg that fails through no fault of its parties. */
export const failing = (
  { answeredAt }: { readonly answeredAt: number | null },
  reason: "carrier_error" | "tenant_suspended",
  why: EndWhy.Code
): Ending => ({ status: answeredAt === null ? "failed" : "ended", reason, initiator: "system", why })

/**
 * The ending of a call whose bridge partner has ended. The partner took the place of the call's own near party: the
 * caller of an outbound call, the callee of an inbound one.
 */
export const ofPeer = (
  { initiator, reason }: Pick<Ending, "initiator" | "reason">,
  direction: "inbound" | "outbound"
): Ending => ({
  status: "ended",
  reason,
  initiator: initiator === "callee" ? (direction === "outbound" ? "caller" : "callee") : initiator,
  why: "bridged_leg_ended"
})

/** The cause of the end of a leg, where its adapter names none. */
const whyOf = ({ by, cause, why }: LegEnd): EndWhy.Code => {
  if (why !== undefined) return why
  switch (cause) {
    case "hangup":
      return by === "far" ? "far_end_hung_up" : by === "near" ? "hangup_requested" : "unspecified"
    case "cancelled":
      return by === "near" ? "hangup_requested" : "caller_cancelled"
    case "final_response":
      return "final_response"
    case "timer":
      return "no_response"
    case "no_route":
      return "no_trunk"
    case "error":
      return "carrier_failed"
    case "lost":
      return "leg_lost"
  }
}

/** The ending of a leg; for the call's own leg, that of the call. */
export const ofLeg = (
  end: LegEnd,
  call: { readonly direction: "inbound" | "outbound"; readonly answered: boolean }
): Ending => ({ ...partyOf(end, call), why: whyOf(end) })

const partyOf = (
  end: LegEnd,
  call: { readonly direction: "inbound" | "outbound"; readonly answered: boolean }
): Omit<Ending, "why"> => {
  if (end.why === "media_timeout")
    return { status: call.answered ? "ended" : "failed", reason: "media_timeout", initiator: "system" }
  const far: EndInitiator = call.direction === "outbound" ? "callee" : "caller"
  const near: EndInitiator = call.direction === "outbound" ? "caller" : "callee"
  if (call.answered) {
    switch (end.cause) {
      case "hangup":
      case "cancelled":
      case "final_response":
        return {
          status: "ended",
          reason: "normal_clearing",
          initiator: end.by === "far" ? far : end.by === "near" ? near : "carrier"
        }
      case "timer":
      case "no_route":
      case "error":
        return { status: "ended", reason: "carrier_error", initiator: "carrier" }
      case "lost":
        return { status: "ended", reason: "carrier_error", initiator: "system" }
    }
  }
  switch (end.cause) {
    case "cancelled":
      return { status: "ended", reason: "cancelled", initiator: "caller" }
    case "hangup":
      return { status: "ended", reason: "normal_clearing", initiator: end.by === "far" ? far : "unknown" }
    case "final_response": {
      const reason = end.sipStatus === null ? "unspecified" : SipStatus.endReason(end.sipStatus)
      if (reason === "cancelled") return { status: "ended", reason, initiator: "caller" }
      return { status: "failed", reason, initiator: reason === "user_busy" || reason === "rejected" ? far : "carrier" }
    }
    case "no_route":
      return { status: "failed", reason: "no_route", initiator: "carrier" }
    case "timer":
    case "error":
      return { status: "failed", reason: "carrier_error", initiator: "carrier" }
    case "lost":
      return { status: "failed", reason: "carrier_error", initiator: "system" }
  }
}
