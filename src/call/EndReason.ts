import type { LegEnd } from "../carrier/Carrier.ts"
import * as SipStatus from "../carrier/SipStatus.ts"
import type { EndInitiator, EndReason } from "../domain/event/CallEvent.ts"

/**
 * Why and by whom a call ended, guide/calls.md#why-a-call-ended.
 */
export interface Ending {
  readonly status: "ended" | "failed"
  readonly reason: EndReason
  readonly initiator: EndInitiator
}

/** What the end of the call's own leg makes of the call. */
export const ofLeg = (
  end: LegEnd,
  call: { readonly direction: "inbound" | "outbound"; readonly answered: boolean }
): Ending => {
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
