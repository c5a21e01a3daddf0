import type { RtpPacket } from "../../rtp/RtpPacket.ts"

/** Takes the packets of another leg for the peer of this one. */
export interface PacketSink {
  /**
   * The packets that follow take up the stream where it is: what has this timestamp comes next. False: nothing can be sent
   * now.
   */
  readonly begin: (timestamp: number, now: number) => boolean
  /** Whether this packet of an event will be sent on: it is of the source that passes, and not from before `begin`. */
  readonly takesEvent: (packet: RtpPacket) => boolean
  /**
   * Sends a packet on, whose header is written over where it lies and whose bytes are given away. `duration` of its sound
   * in clock units; 0: an event.
   */
  readonly pass: (packet: RtpPacket, duration: number, now: number) => void
  /** The stream is ours again. */
  readonly end: (now: number) => void
}
