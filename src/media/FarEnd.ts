import type { CodecName } from "../protocol/audio/codec/Codecs.ts"
import type { SampleRate } from "../protocol/audio/SampleRate.ts"
import type { RtpPacket } from "../protocol/rtp/RtpPacket.ts"
import type { Frame, Sound } from "./Frame.ts"
import type { PacketSink } from "./rtp/PacketSink.ts"

/**
 * Receives each packet of the peer before its sound waits in the playout buffer: in arrival order, duplicates included.
 * The packet is lent for the call. `at` is in milliseconds of the plane's clock.
 */
export type Arrived = (packet: RtpPacket, codec: CodecName, at: number) => void

/**
 * The far end pressed a digit outside its sound. `isPassedOn`: another far end gets it from the forwarded packets.
 * Returns whether the digit is new; false: its signalling has brought the press, so its packets may not pass on.
 */
export type OnDigit = (digit: string, isPassedOn?: boolean) => boolean

/** How the packets of a far end carry sound and digits, without the payload types, which a header can exchange. */
export interface PacketFormat {
  readonly codec: CodecName
  /** The clock rate of its telephone events; null: it has none. */
  readonly telephoneEvents: number | null
}

/**
 * The other party of a leg, as the switch sees it: an RTP peer, a simulated phone, another call of this process.
 *
 * `say` and `hear` are each called once in every round of 20 ms. The reader of the leg calls `say`, and that may be
 * another leg.
 */
export interface FarEnd {
  /** The rate of the frames that it says and hears. It changes between two rounds when another codec is agreed. */
  readonly rate: () => SampleRate
  /** Whether sound can be played to it already; playback waits until then. */
  readonly ready: () => boolean
  /** Writes the next 20 ms of the far end into `out`, a frame of its rate. False: it says nothing, `out` is silent. */
  readonly say: (out: Frame, now: number) => boolean
  /** Plays 20 ms to it, at its rate. */
  readonly hear: (frame: Frame, now: number) => void
  /**
   * Begins a digit outside the sound. While the digit lasts, the frames that it is given to hear are not sent. False
   * when it takes no such digits: then they have to be sent as tones.
   */
  readonly press: (digit: string, durationMs: number) => boolean
  /** Whether it can press digits only as tones in its sound. */
  readonly pressesTones: () => boolean
  /** Whether it is a peer whose sound comes in packets, which `overhear` observes. */
  readonly hasPackets: boolean
  /**
   * Calls `arrived` for each packet of sound as it comes, until the next `overhear`; `null` ends that. A far end
   * without packets never calls it.
   */
  readonly overhear: (arrived: Arrived | null) => void
  /** Null when packets do not go both ways now, or never do. */
  readonly packetFormat: () => PacketFormat | null
  /** Takes forwarded packets of another far end of the same format; null: not possible. */
  readonly sink: PacketSink | null
  /**
   * Forwards its packets to `sink` as they come, beginning with those that wait in the playout buffer. Called in each
   * round, in the slot of the other far end, as long as they may pass. False: they do not pass, because none come or
   * the moment does not allow it. `isHeard`: whether anything listens to the sound meanwhile; if nothing does, `say`
   * leaves its frame as it is.
   */
  readonly forward: (sink: PacketSink, isHeard: boolean, now: number) => boolean
  /**
   * Replaces rounds while packets are forwarded and nothing listens to them: does the work that is due by the clock,
   * and returns when more will be due. Null: no packets have come for long.
   */
  readonly attend: (now: number) => number | null
  /** Stops forwarding. Returns the end of the forwarded sound, decoded; null: there is none, or it is long ago. */
  readonly recall: (now: number) => Sound | null
  /**
   * Announces that it has heard this sound from another far end by forwarded packets. The next frames that it is given
   * are joined to it, for this far end alone. Taps hear frames at their tick, later than the packets by the playout
   * delay.
   */
  readonly prime: (sound: Sound) => void
  /** Skips this many frames, because the clock stood still; they are not made up for. */
  readonly skip: (frames: number) => void
  readonly close: (now: number) => void
}

/** The packet members of a far end that has no packets. */
export const withoutPackets = {
  hasPackets: false,
  overhear: () => undefined,
  packetFormat: () => null,
  sink: null,
  forward: () => false,
  attend: () => null,
  recall: () => null,
  prime: () => undefined,
  skip: () => undefined
} satisfies Partial<FarEnd>
