import type { CodecName } from "../../protocol/audio/codec/Codecs.ts"
import type { SampleRate } from "../../protocol/audio/SampleRate.ts"
import type { Sound } from "../Frame.ts"
import type { LegId, MemberId, WorkId } from "../../domain/Id.ts"
import type { CaptureCommand, CaptureEvent } from "../capture/CaptureMessage.ts"
import type { Attended, MediaCommand, MediaEvent } from "../../ports/media/MediaMessage.ts"
import type { Playable } from "../../ports/media/PlaybackMessages.ts"
import type { Entry, MemberChange } from "../../ports/media/MemberChange.ts"
import type { StreamAnswer, StreamAsk } from "../stream/dialect/StreamMessage.ts"
import type { PhoneScript } from "../SimulatedPhone.ts"

/**
 * The messages between the interface of the media plane and its switch, which may run in another thread: plain data
 * that structured cloning copies, except for samples, which both sides share.
 */
export type { LegId } from "../../domain/Id.ts"

/**
 * The number of a payload format in each direction, 0 to 127: the peer assigned the one that we send, we assigned the
 * one that we receive (RFC 3264 section 5.1).
 */
interface PayloadTypes {
  readonly send: number
  readonly receive: number
}

/** How a leg reaches its RTP peer, from the session descriptions. Address literals are in the form of sockets. */
export interface RtpRemote {
  /** An IP address literal. */
  readonly address: string
  readonly port: number
  readonly rtcpPort: number
  /** The IP literal that the peer's signalling comes from, and so perhaps its RTP; `null`: not known. */
  readonly signallingAddress: string | null
  readonly codec: CodecName
  /** The peer's parameters of the codec (`a=fmtp`); null: it gave none. */
  readonly fmtp: string | null
  readonly audio: PayloadTypes
  /** The payload types of `telephone-event`, and its clock rate; null: digits are sent as tones, and not received. */
  readonly telephoneEvent: (PayloadTypes & { readonly clockRate: number }) | null
  /** Milliseconds of sound in a packet that the peer asked for, 10 to 60. */
  readonly ptimeMs: number
  /** The direction from our side: `sendonly` sends and does not listen. */
  readonly direction: "sendrecv" | "sendonly" | "recvonly" | "inactive"
}

type RefusalReason = "no_ports" | "too_many_legs" | "leg_exists" | "plane_stopped"

/** Why two legs cannot be bridged, or a leg cannot enter a room. */
export type BridgeRefusal = "unknown_leg" | "same_leg" | "already_joined"

/** Why a playback failed. `http_404` and the like give the status of the server. */
export type PlaybackFailure =
  | "fetch_failed"
  | `http_${number}`
  | "too_large"
  | "unsupported_format"
  | "empty"
  /** Decoding it takes more CPU time than its length allows. */
  | "decode_limit"
  /** Too much is being fetched, decoded or kept, for this tenant or for all. */
  | "overloaded"
  /** No speech engine is configured, or it does not have this voice (any more). */
  | "voice_unavailable"
  /** The engine failed, or returned no sound. */
  | "speech_failed"
  /** The engine did not begin, or continue, in time. */
  | "speech_timeout"
  | "too_many_playbacks"
  | "unknown_leg"
  /** The target was the other leg of a bridge, and there is no bridge. */
  | "not_bridged"

/** The commands that the switch itself carries out. */
export type PlaneCommand = Exclude<MediaCommand, Attended>

export type Command =
  | { readonly type: "open_rtp"; readonly leg: LegId }
  | { readonly type: "open_phone"; readonly leg: LegId; readonly script: PhoneScript }
  /** A leg whose far end is the leg `peer` of the same switch, opened towards this one in the same way. */
  | { readonly type: "open_joined"; readonly leg: LegId; readonly peer: LegId }
  /** A room, which has no far end. The commands for legs below apply to it, except those that need a far end. */
  | { readonly type: "open_room"; readonly leg: LegId }
  | { readonly type: "connect_rtp"; readonly leg: LegId; readonly remote: RtpRemote }
  | { readonly type: "media"; readonly leg: LegId; readonly media: PlaneCommand }
  /** Answers `wanted`, as `supply_failed` does. The samples may be backed by shared memory. */
  | {
      readonly type: "supply"
      readonly leg: LegId
      readonly id: WorkId
      readonly sound: Sound
      readonly isLast: boolean
    }
  | { readonly type: "supply_failed"; readonly leg: LegId; readonly id: WorkId; readonly reason: PlaybackFailure }
  /** Joins two open legs of the switch; answered by `bridged` or `bridge_refused`. */
  | { readonly type: "bridge"; readonly leg: LegId; readonly peer: LegId }
  /** Ends the bridge of a leg, if it has one. */
  | { readonly type: "unbridge"; readonly leg: LegId }
  /** Joins an open leg to a room of the switch; answered by `bridged` or `bridge_refused`. */
  | { readonly type: "enter_room"; readonly leg: LegId; readonly room: LegId; readonly entry: Entry }
  /** Ends the membership of a leg, if it is in a room. */
  | { readonly type: "leave_room"; readonly leg: LegId }
  /** This and the next two are for the room `leg`. A member that is absent is ignored. */
  | {
      readonly type: "change_member"
      readonly leg: LegId
      readonly memberId: MemberId
      readonly change: MemberChange
    }
  | { readonly type: "room_beep"; readonly leg: LegId; readonly except: MemberId | null }
  /** Carries out `media` for these members only. */
  | {
      readonly type: "room_media"
      readonly leg: LegId
      readonly media: PlaneCommand
      readonly to: ReadonlyArray<MemberId>
    }
  /** The far end pressed a digit, as its signalling says; answered by `press_taken`. */
  | { readonly type: "press"; readonly leg: LegId; readonly digit: string }
  | CaptureCommand
  | ({ readonly leg: LegId } & StreamAnswer)
  | { readonly type: "close"; readonly leg: LegId }

/** A command that is answered by `opened` or `refused`. */
export type Opening = Extract<Command, { readonly type: "open_rtp" | "open_phone" | "open_joined" | "open_room" }>

export const isOpening = (command: Command): command is Opening =>
  command.type === "open_rtp" ||
  command.type === "open_phone" ||
  command.type === "open_joined" ||
  command.type === "open_room"

/** The quality of a leg, with every RTCP report and before the leg is gone. Totals are since it was connected. */
export interface Quality {
  /** The codec that was agreed last. */
  readonly codec: CodecName
  readonly packetsSent: number
  readonly packetsReceived: number
  readonly packetsLost: number
  /** Packets that came too late, or too many at once, to be heard. */
  readonly packetsLate: number
  /** Frames of 20 ms that were concealed at least in part. */
  readonly framesConcealed: number
  /** Interarrival jitter, RFC 3550 section 6.4.1: after the last packet, its mean and its maximum. */
  readonly jitterMs: number
  readonly jitterMeanMs: number
  readonly jitterMaxMs: number
  /** `null` until the peer has reported on the stream that we send. */
  readonly roundTripMs: number | null
  /** The peer's last report on the stream that we send; null: none. */
  readonly reported: {
    readonly packetsLost: number
    readonly jitterMs: number
    /** Over all its reports. */
    readonly jitterMeanMs: number
    readonly jitterMaxMs: number
    /** The score of the stream that we send; null: nothing was sent. */
    readonly mos: number | null
    /** The robustness against loss that is assumed of the peer, as `bpl`. */
    readonly bpl: number
  } | null
  /** Mean opinion score by the E-model, 1 to 4.5; null: no packet came. */
  readonly mos: number | null
  /** The packet-loss robustness factor of that score, ITU-T G.113 appendix I. */
  readonly bpl: number
}

/**
 * No RTP or RTCP came for the configured time (reported once for every silence, and not while the peer holds), or the
 * plane itself died with the leg.
 */
export type Loss = "no_packets" | "plane_stopped"

/** An event of a leg between its opening and its end. */
export type LegEvent =
  /** An event for the call. */
  | { readonly type: "media"; readonly event: MediaEvent }
  | { readonly type: "lost"; readonly reason: Loss }
  | { readonly type: "quality"; readonly quality: Quality }
  | CaptureEvent
  | StreamAsk
  /** A playback needs the next piece of its sound, at this rate. It requests one at a time, until it has ended. */
  | { readonly type: "wanted"; readonly id: WorkId; readonly sound: Playable; readonly rate: SampleRate }
  /** A playback of another leg's command has ended here; that leg reports its end. */
  | { readonly type: "unwanted"; readonly id: WorkId }
  /** A member of the room begins to speak, or is silent again. */
  | { readonly type: "spoke"; readonly memberId: MemberId; readonly isSpeaking: boolean }

export type Event =
  /** `port` is 0 except for a leg over RTP. */
  | { readonly type: "opened"; readonly leg: LegId; readonly port: number }
  | { readonly type: "refused"; readonly leg: LegId; readonly reason: RefusalReason }
  | ({ readonly leg: LegId } & LegEvent)
  | { readonly type: "bridged"; readonly leg: LegId }
  | { readonly type: "bridge_refused"; readonly leg: LegId; readonly reason: BridgeRefusal }
  /** `isNew`: the digit counts. Its packets have not brought the same press. */
  | { readonly type: "press_taken"; readonly leg: LegId; readonly isNew: boolean }
  /** The last event of a leg. */
  | { readonly type: "closed"; readonly leg: LegId }
