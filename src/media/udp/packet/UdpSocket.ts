import type { Address, Destination } from "../../rtp/PacketPort.ts"

/** A bound UDP socket. */
export interface UdpSocket {
  /** Once: from now on every datagram is heard, as an `OnPacket` hears it. */
  readonly listen: (heard: (bytes: Uint8Array, from: Address) => void) => void
  /** Of a literal of a family that the socket reaches, named as the socket names it, and a port that there is. */
  readonly prepare: (to: Address) => Pick<Destination, "send" | "give">
  readonly close: () => void
}

export interface Options {
  /** IP address literal to bind; `::` for all of both families. */
  readonly bindAddress: string
  /** Called for each datagram that was not sent, and for each other error of a socket. */
  readonly failed: () => void
}

/** Binds a port; `bound` is called once, with `null` when it is not to be had. */
export type Bind = (port: number, bound: (socket: UdpSocket | null) => void) => void

/** A way to have sockets of this machine. */
export type Sockets = (options: Options) => Bind
