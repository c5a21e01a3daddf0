import type { CodecName } from "../protocol/audio/codec/Codecs.ts"
import type { SampleRate } from "../protocol/audio/SampleRate.ts"
import type { RtpPacket } from "../protocol/rtp/RtpPacket.ts"
import type { Frame, Sound } from "./Frame.ts"
import type { PacketSink } from "./rtp/PacketSink.ts"

/**
 * Hears of a packet of the peer before its sound waits to be played: as the network brings them, out of order and twice
 * too. The packet is lent for the call. `at` in milliseconds of the plane's clock.
 */
export type Arrived = (packet: RtpPacket, codec: CodecName, at: number) => void

/**
 * The far end pressed a digit outside its sound. `isPassedOn`: its packets go on to another far end, which hears it by
 * them.
 */
export type OnDigit = (digit: string, isPassedOn?: boolean) => void

/** How the packets of a far end carry sound and digits, without the payload types, which a header can exchange. */
export interface PacketFormat {
  readonly codec: CodecName
  /** Whether digits come and go as telephone events. */
  /** The rate at which the durations of its telephone events count; null: it has none. */
  readonly telephoneEvents: number | null
}

/**
 * The other party of a leg, as the switch sees it: an RTP peer, a simulated phone, another call of this process.
 *
 * `say` and `hear` are each called once in every round of 20 ms; `say` by whoever reads the leg, which may be another
 * leg.
 */
export interface FarEnd {
  /** The rate of the frames that it says and hears. It changes between two rounds when another codec is agreed. */
  readonly rate: () => SampleRate
  /** Whether it can be played to yet; playback waits until then. */
  readonly ready: () => boolean
  /**
   * Writes the next 20 ms that the far end says into `out`, a frame of its rate. False when it says nothing: then `out`
   * is silence.
   */
  readonly say: (out: Frame, now: number) => boolean
  /** Gives it 20 ms to hear, at its rate. */
  readonly hear: (frame: Frame, now: number) => void
  /**
   * Begins a digit outside the sound; the next frames that it is given to hear are not sent while the digit lasts.
   * False when it takes no such digits: then they have to be tones.
   */
  readonly press: (digit: string, durationMs: number) => boolean
  /** Whether it has no way to press digits but as tones in what it says. */
  readonly pressesTones: () => boolean
  /** Whether it is a peer whose sound comes in packets, of which `overhear` tells. */
  readonly hasPackets: boolean
  /**
   * From now on `arrived` hears of each packet of sound as it comes; `null`: nobody does. A far end without packets
   * never calls it.
   */
  readonly overhear: (arrived: Arrived | null) => void
  /** Null when packets do not go both ways now, or never do. */
  readonly packetFormat: () => PacketFormat | null
  /** Where packets of another far end of the same format can be handed on; null: nowhere. */
  readonly sink: PacketSink | null
  /**
   * Hands its packets on to `sink` as they come, beginning with those that wait to be said. Called in each round, in the
   * slot of the other far end, as long as they may pass. False: they do not, because none come, or it is not the moment.
   * `isHeard`: whether anybody hears what is said meanwhile; where nobody does, `say` leaves its frame as it is.
   */
  readonly forward: (sink: PacketSink, isHeard: boolean, now: number) => boolean
  /**
   * In place of rounds, now and then while packets are handed on and nobody hears them: does what is due by the clock, and
   * tells when something will be. Null: no packets have come for long.
   */
  readonly attend: (now: number) => number | null
  /** Hands on no more. Returns the last of what was handed on, as it sounds; null: nothing, or it is long ago. */
  readonly recall: (now: number) => Sound | null
  /**
   * It has heard this sound from another far end: what it is given to hear now is joined to it, for itself alone. Taps
   * hear frames at their tick, which are behind the packets by what waits to be played.
   */
  readonly prime: (sound: Sound) => void
  /** The clock stood still for so many frames, which will not be made up for. */
  readonly skip: (frames: number) => void
  readonly close: (now: number) => void
}

/** What a far end that has no packets says of them. */
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
