import type { Address, Destination } from "../../rtp/PacketPort.ts"

/** A bound UDP socket. */
export interface UdpSocket {
  /** Passes every datagram to `heard` from now on, as to `OnPacket`; called once. */
  readonly listen: (heard: (bytes: Uint8Array, from: Address) => void) => void
  /** Takes a literal of a family that the socket reaches, written as the socket reports it, and a valid port. */
  readonly prepare: (to: Address) => Pick<Destination, "send" | "give">
  readonly close: () => void
}

interface Options {
  /** The IP address literal to bind; `::` for all of both families. */
  readonly bindAddress: string
  /** Called for each datagram that was not sent, and for each other error of a socket. */
  readonly failed: () => void
}

/** Binds a port; `bound` is called once, with `null` when it is not available. */
type Bind = (port: number, bound: (socket: UdpSocket | null) => void) => void

/** Makes sockets of this machine. */
export type Sockets = (options: Options) => Bind
