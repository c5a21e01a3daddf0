import type { RtpPacket } from "../../rtp/RtpPacket.ts"

/** How packets that follow each other as expected are written and sent on. */
export interface Onward {
  /** Whether it still holds: the peer is where it was, and wants what it wanted. */
  isValid: boolean
  readonly payloadType: number
  readonly ssrc: number
  /** What is added to the numbers and timestamps of the source. */
  readonly numberOffset: number
  readonly timestampOffset: number
  /** Sends bytes that nobody uses any more. */
  readonly give: (bytes: Uint8Array) => void
  /** To be called for each: its number and the end of its sound in the stream that it was sent in, octets of payload. */
  readonly passed: (number: number, end: number, octets: number) => void
}

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
  /** How the packets behind this one can be sent on without `pass`; null: not now, or it was not the last one. */
  readonly onward: (packet: RtpPacket) => Onward | null
  /** So many packets were sent on by `onward`; the last of them had this timestamp, and came at this time. */
  readonly followed: (packets: number, timestamp: number, at: number) => void
  /** The stream is ours again. */
  readonly end: (now: number) => void
}
