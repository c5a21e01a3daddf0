import type { RtpPacket } from "../../protocol/rtp/RtpPacket.ts"

/** How packets that follow each other as expected are rewritten and sent. */
export interface Onward {
  readonly payloadType: number
  readonly ssrc: number
  /** The offsets that are added to the numbers and timestamps of the source. */
  readonly numberOffset: number
  readonly timestampOffset: number
  /** Sends bytes that the caller gives away. */
  readonly give: (bytes: Uint8Array) => void
}

/** Packets in a row that were sent by `onward`. */
export interface Followed {
  readonly packets: number
  /** The timestamp of the last one as it came, and its time of arrival. */
  readonly timestamp: number
  readonly at: number
  /** The duration of the sound of each, in clock units. */
  readonly duration: number
  /** The octets of all payloads. */
  readonly octets: number
}

/** Takes the packets of another leg for the peer of this one. */
export interface PacketSink {
  /** Begins to forward packets: the sound with this timestamp comes next. False: the peer cannot be sent to now. */
  readonly start: (timestamp: number, now: number) => boolean
  /** Whether this packet of an event will be forwarded: it is of the present source, and not from before `begin`. */
  readonly takesEvent: (packet: RtpPacket) => boolean
  /**
   * Forwards a packet. Its header is overwritten in place, and its bytes are given away. `duration` is that of its
   * sound in clock units; 0: an event. `timestamp` replaces the packet's own, for an event whose sender lets the
   * timestamp run.
   */
  readonly pass: (packet: RtpPacket, duration: number, now: number, timestamp?: number) => void
  /**
   * Returns how the packets after this one can be forwarded without `pass`; null: not now, or it was not the last one.
   * Before any other use of the stream, or a change in how the peer is sent to, `settle` is called: it reports the
   * forwarded packets (`followed`), and forwards no more.
   */
  readonly onward: (packet: RtpPacket, settle: () => void) => Onward | null
  readonly followed: (packets: Followed) => void
  /** Ends forwarding; the stream carries our own frames again. */
  readonly end: (now: number) => void
}
