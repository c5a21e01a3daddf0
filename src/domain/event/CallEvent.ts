/**
 * Public call events, spec §6.4 and decisions 2.2, D12: wire shapes only.
 * Timestamps are wire strings; `customer_reference` stands on every one (spec §2.2).
 */
interface OfCall {
  readonly call_id: string
  readonly leg_id: string
  readonly customer_reference: string | null
}

export type GatherStatus = "valid" | "invalid" | "timeout" | "cancelled" | "call_ended"
export type PlaybackStatus = "completed" | "stopped" | "failed"

export type CallEvent =
  | {
      readonly type: "call.started"
      readonly data: OfCall & {
        readonly from: string
        readonly to: string
        readonly direction: "inbound" | "outbound"
        readonly route_id: string
      }
    }
  /** Additive: the far end is being alerted. */
  | { readonly type: "call.ringing"; readonly data: OfCall & { readonly ringing_at: string } }
  | { readonly type: "call.answered"; readonly data: OfCall & { readonly answered_at: string } }
  | {
      readonly type: "call.ended"
      readonly data: OfCall & {
        readonly status: "ended" | "failed"
        readonly ended_at: string
        readonly duration_seconds: number
        readonly end_reason: string
        readonly end_initiator: string
      }
    }
  | { readonly type: "call.dtmf"; readonly data: OfCall & { readonly digit: string; readonly received_at: string } }
  | {
      readonly type: "call.gather_complete"
      readonly data: OfCall & { readonly digits: string; readonly status: GatherStatus; readonly completed_at: string }
    }
  /** Additive, decision D12. */
  | {
      readonly type: "call.playback_ended"
      readonly data: OfCall & {
        readonly playback_id: string
        readonly status: PlaybackStatus
        readonly reason: string | null
        readonly ended_at: string
      }
    }
