import type { LegEnd } from "../carrier/Carrier.ts"
import type { EndInitiator, EndReason } from "../domain/event/CallEvent.ts"

/**
 * Why and by whom a call ended, guide/calls.md#why-a-call-ended.
 */
export interface Ending {
  readonly status: "ended" | "failed"
  readonly reason: EndReason
  readonly initiator: EndInitiator
}

/** What a final answer of SIP says, guide/sip.md#answers. */
const ofSipStatus = (status: number): EndReason => {
  switch (status) {
    case 404:
    case 410:
    case 484:
    case 485:
    case 604:
      return "not_found"
    case 486:
    case 600:
      return "user_busy"
    case 403:
    case 603:
    case 607:
    case 608:
      return "rejected"
    case 408:
    case 480:
      return "no_answer"
    case 487:
      return "cancelled"
    default:
      return "carrier_error"
  }
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
      const reason = end.sipStatus === null ? "unspecified" : ofSipStatus(end.sipStatus)
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
