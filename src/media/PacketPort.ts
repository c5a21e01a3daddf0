/** An IP address literal and a UDP port. */
export interface Address {
  readonly address: string
  readonly port: number
}

export type Channel = "rtp" | "rtcp"

/** A bound pair of ports: RTP on the even one, RTCP on the one above it. */
export interface PacketSocket {
  /** The RTP port. */
  readonly port: number
  /** Sends and forgets; what cannot be sent is counted by the port, never thrown. */
  readonly send: (channel: Channel, bytes: Uint8Array, to: Address) => void
  /** Frees the pair; nothing is received afterwards. */
  readonly close: () => void
}

/** Packet I/O of the switch. */
export interface PacketPort {
  /**
   * Binds a pair of ports; `opened` is called once, with `null` when none is free. `bytes` given to `onPacket` are the
   * callee's to keep.
   */
  readonly open: (
    onPacket: (channel: Channel, bytes: Uint8Array, from: Address) => void,
    opened: (socket: PacketSocket | null) => void
  ) => void
}
