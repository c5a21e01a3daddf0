import type { RtpPacket } from "../../protocol/rtp/RtpPacket.ts"

/** How packets that follow each other as expected are written and sent on. */
export interface Onward {
  readonly payloadType: number
  readonly ssrc: number
  /** What is added to the numbers and timestamps of the source. */
  readonly numberOffset: number
  readonly timestampOffset: number
  /** Sends bytes that nobody uses any more. */
  readonly give: (bytes: Uint8Array) => void
}

/** Packets in a row that were sent on by `onward`. */
export interface Followed {
  readonly packets: number
  /** Of the last of them, as it came, and when that was. */
  readonly timestamp: number
  readonly at: number
  /** Of the sound of each, in clock units. */
  readonly duration: number
  /** Of all payloads. */
  readonly octets: number
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
  /**
   * How the packets behind this one can be sent on without `pass`; null: not now, or it was not the last one. Before
   * anything is done with the stream, or the peer is sent to in another way, `settle` is called: it tells what was sent on
   * (`followed`), and sends no more.
   */
  readonly onward: (packet: RtpPacket, settle: () => void) => Onward | null
  readonly followed: (packets: Followed) => void
  /** The stream is ours again. */
  readonly end: (now: number) => void
}
