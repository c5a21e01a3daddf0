import type { CarrierEvent, Json, LegPresence, RejectCause } from "../carrier/Carrier.ts"
import type { GatherOptions, Limit } from "./CallState.ts"

/**
 * Everything that can happen to a call: API commands, carrier events, due deadlines, `recovered`.
 *
 * What the outside knew at that moment (rates, limits, the route) is a value inside the input, so that folding the
 * journal again needs nobody to ask.
 */
/** What admission found out about a new call. */
export interface Terms {
  /** Derived by the door from a seed of its own: the actor is known by it before the first step. */
  readonly callId: string
  readonly tenantId: string
  readonly routeId: string
  readonly adapter: string
  readonly microUsdPerMinute: number
  readonly limit: Limit
}

export type CallAction =
  | { readonly type: "answer" }
  | { readonly type: "reject"; readonly cause: "user_busy" | "rejected" }
  | { readonly type: "hangup" }
  | { readonly type: "play"; readonly url: string; readonly loop: number }
  | { readonly type: "stop_playback"; readonly which: "current" | "all" }
  | { readonly type: "send_dtmf"; readonly digits: string; readonly durationMs: number }
  | { readonly type: "gather"; readonly options: GatherOptions }
  | { readonly type: "stop_gather" }

export type Deadline = "ring" | "first_command" | "answer" | "limit" | "gather" | "hangup"

export type CallInput =
  | {
      readonly type: "place"
      readonly terms: Terms
      readonly from: string
      readonly to: string
      readonly customerReference: string | null
      readonly timeoutSecs: number
    }
  | {
      readonly type: "offered"
      readonly terms: Terms
      readonly legId: string
      readonly from: string
      readonly to: string
      readonly resume: Json
    }
  | { readonly type: "action"; readonly action: CallAction }
  | { readonly type: "carrier"; readonly event: CarrierEvent }
  | { readonly type: "deadline"; readonly deadline: Deadline }
  /**
   * The call was rebuilt: `lostAt` is when its process was last alive (decision D4), null when this very process lives
   * on (a restart after a defect).
   */
  | { readonly type: "recovered"; readonly legs: Readonly<Record<string, LegPresence>>; readonly lostAt: number | null }
  /** The call cannot be kept alive (overflow, too many restarts). */
  | { readonly type: "faulted"; readonly reason: string }
  /** The service or the operator ends it (drain, suspension). */
  | {
      readonly type: "ended_by_system"
      readonly reason: "carrier_error" | "tenant_suspended"
      readonly rejectCause: RejectCause
    }
