/** An IP address literal and a UDP port. */
export interface Address {
  readonly address: string
  readonly port: number
}

export type Channel = "rtp" | "rtcp"

/** An address that was prepared for sending, so that no packet needs a lookup or a check. */
export interface Destination {
  readonly address: Address
  /**
   * Sends the first `length` octets of `bytes`, or all by default. They are lent for the call: the caller may write the
   * next packet over them at once. The port counts datagrams that cannot be sent, and never throws.
   */
  readonly send: (bytes: Uint8Array, length?: number) => void
  /** Sends all of `bytes`, which the caller gives away; dropped and counted when too many wait. */
  readonly give: (bytes: Uint8Array) => void
}

/** A bound pair of ports: RTP on the even one, RTCP on the one above it. */
export interface PacketSocket {
  /** The RTP port. */
  readonly port: number
  /** Prepares an address, once for each. An invalid address gets a destination that counts and sends nothing. */
  readonly prepare: (channel: Channel, to: Address) => Destination
  /** Frees the pair; nothing is received afterwards. */
  readonly close: () => void
}

/** Receives every datagram. `bytes` are the receiver's, to write into and `give` away; `from` is lent for the call. */
export type OnPacket = (channel: Channel, bytes: Uint8Array, from: Address) => void

/** Packet I/O of the switch. */
export interface PacketPort {
  /** Binds a pair of ports; `opened` is called once, with `null` when none is free. */
  readonly open: (onPacket: OnPacket, opened: (socket: PacketSocket | null) => void) => void
}
