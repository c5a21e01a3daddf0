/** An IP address literal and a UDP port. */
export interface Address {
  readonly address: string
  readonly port: number
}

export type Channel = "rtp" | "rtcp"

/** An address that was made ready to be sent to, so that nothing is looked up or checked again for each packet. */
export interface Destination {
  readonly address: Address
  /**
   * Sends the first `length` octets of `bytes`, all without it, and forgets them. They are lent for the call: the
   * sender may write the next packet over them at once. What cannot be sent is counted by the port, never thrown.
   */
  readonly send: (bytes: Uint8Array, length?: number) => void
  /** Sends all of `bytes`, which nobody uses any more; dropped and counted when too many wait. */
  readonly give: (bytes: Uint8Array) => void
}

/** A bound pair of ports: RTP on the even one, RTCP on the one above it. */
export interface PacketSocket {
  /** The RTP port. */
  readonly port: number
  /** Once for each address. An address that makes no sense has a destination that counts and sends nothing. */
  readonly prepare: (channel: Channel, to: Address) => Destination
  /** Frees the pair; nothing is received afterwards. */
  readonly close: () => void
}

/**
 * Hears every datagram. `bytes` are the receiver's, to write into and to `give` away; `from` is lent for the call.
 */
export type OnPacket = (channel: Channel, bytes: Uint8Array, from: Address) => void

/** Packet I/O of the switch. */
export interface PacketPort {
  /** Binds a pair of ports; `opened` is called once, with `null` when none is free. */
  readonly open: (onPacket: OnPacket, opened: (socket: PacketSocket | null) => void) => void
}
