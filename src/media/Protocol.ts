import type { PhoneScript } from "./SimulatedPhone.ts"

/**
 * The messages between the face of the media plane and its switch, which may live in another thread: plain data that
 * structured cloning copies, but for samples, which both sides share.
 */
export type LegId = string

/** How a leg reaches its RTP peer, from the session descriptions. */
export interface RtpRemote {
  /** An IP address literal. */
  readonly address: string
  readonly port: number
  readonly rtcpPort: number
  readonly codec: "PCMU" | "PCMA"
  /** Of `codec`, 0 to 127. */
  readonly payloadType: number
  /** Of `telephone-event/8000`; `null`: digits are sent as tones, and none can be received. */
  readonly telephoneEventPayloadType: number | null
  /** As we see it: `sendonly` sends and does not listen. */
  readonly direction: "sendrecv" | "sendonly" | "recvonly" | "inactive"
}

export type RefusalReason = "no_ports" | "too_many_legs" | "leg_exists" | "plane_stopped"

/** Why a playback failed. `http_404` and its like tell the status of the server. */
export type PlaybackFailure =
  | "fetch_failed"
  | `http_${number}`
  | "too_large"
  | "unsupported_format"
  | "empty"
  | "too_many_playbacks"
  | "unknown_leg"

export type Command =
  | { readonly kind: "open_rtp"; readonly leg: LegId }
  | { readonly kind: "open_phone"; readonly leg: LegId; readonly script: PhoneScript }
  /** A leg whose far end is the leg `peer` of the same switch, opened towards this one in the same way. */
  | { readonly kind: "open_joined"; readonly leg: LegId; readonly peer: LegId }
  | { readonly kind: "connect_rtp"; readonly leg: LegId; readonly remote: RtpRemote }
  /** Takes a place in the queue; the sound follows. */
  | { readonly kind: "play"; readonly leg: LegId; readonly id: string; readonly loop: number }
  /** `samples` at 8 kHz; may be backed by shared memory, and is only read. */
  | { readonly kind: "supply"; readonly leg: LegId; readonly id: string; readonly samples: Int16Array }
  | { readonly kind: "supply_failed"; readonly leg: LegId; readonly id: string; readonly reason: PlaybackFailure }
  | { readonly kind: "stop_playback"; readonly leg: LegId; readonly which: "current" | "all" }
  | {
      readonly kind: "send_dtmf"
      readonly leg: LegId
      readonly id: string
      readonly digits: string
      readonly durationMs: number
    }
  | { readonly kind: "close"; readonly leg: LegId }

/** A command that is answered by `opened` or `refused`. */
export type Opening = Extract<Command, { readonly kind: "open_rtp" | "open_phone" | "open_joined" }>

export const isOpening = (command: Command): command is Opening =>
  command.kind === "open_rtp" || command.kind === "open_phone" || command.kind === "open_joined"

/** What happens on a leg between its opening and its end. */
export type MediaEvent =
  /** At its beginning; `at` in epoch milliseconds. */
  | { readonly _tag: "DtmfReceived"; readonly digit: string; readonly at: number }
  /** The first sound of it was sent. */
  | { readonly _tag: "PlaybackStarted"; readonly id: string }
  /** `reason` only with `failed`. A playback that never started ends too. */
  | {
      readonly _tag: "PlaybackEnded"
      readonly id: string
      readonly status: "completed" | "stopped" | "failed"
      readonly reason: PlaybackFailure | null
    }
  | { readonly _tag: "DtmfSent"; readonly id: string }
  | {
      readonly _tag: "DtmfFailed"
      readonly id: string
      readonly reason: "invalid_digits" | "too_many" | "unknown_leg" | "closed"
    }
  /** No RTP or RTCP for the configured time (once for every silence), or the plane itself died and the leg with it. */
  | { readonly _tag: "MediaTimeout"; readonly reason: "no_packets" | "plane_stopped" }
  /** With every RTCP report, and once more before the leg is gone. Totals since the leg was connected. */
  | {
      readonly _tag: "Quality"
      readonly packetsReceived: number
      readonly packetsLost: number
      readonly jitterMs: number
      /** `null` until the peer reported on what we send. */
      readonly roundTripMs: number | null
    }

export type Event =
  /** `port` is 0 for a phone and a joined leg. */
  | { readonly kind: "opened"; readonly leg: LegId; readonly port: number }
  | { readonly kind: "refused"; readonly leg: LegId; readonly reason: RefusalReason }
  | { readonly kind: "media"; readonly leg: LegId; readonly event: MediaEvent }
  /** The last word on a leg. */
  | { readonly kind: "closed"; readonly leg: LegId }
