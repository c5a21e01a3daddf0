import { createSocket, type Socket } from "node:dgram"
import { isIPv6 } from "node:net"
import type { Address } from "../../rtp/PacketPort.ts"
import * as Outbox from "./Outbox.ts"
import type * as UdpSocket from "./UdpSocket.ts"

type Lookup = (
  hostname: string,
  options: unknown,
  callback: (error: null, address: string, family: number) => void
) => void

/**
 * Peers are address literals: resolving them for every packet is waste, and waiting for that would reorder the packets.
 * Only IPv6 literals contain a colon.
 */
const lookup: Lookup = (hostname, _, callback) => callback(null, hostname, hostname.includes(":") ? 6 : 4)

const mapped = "::ffff:"

const listen = (socket: Socket, isWide: boolean, heard: (bytes: Uint8Array, from: Address) => void): void => {
  if (!isWide) return void socket.on("message", heard)
  socket.on("message", (bytes, from) => {
    // A socket on `::` writes IPv4 as IPv6. Node hands over the sender's object, so it may be changed.
    if (from.address.startsWith(mapped)) from.address = from.address.slice(mapped.length)
    heard(bytes, from)
  })
}

/** Sockets of Node, on every system. */
export const make: UdpSocket.Sockets = ({ bindAddress, failed }) => {
  const isWide = isIPv6(bindAddress)
  return (port, bound) => {
    const socket = createSocket({ type: isWide ? "udp6" : "udp4", ipv6Only: false, lookup })
    const refused = () => {
      socket.close()
      bound(null)
    }
    socket.once("error", refused)
    socket.bind({ port, address: bindAddress, exclusive: true }, () => {
      socket.off("error", refused)
      // An ICMP answer or a full buffer is an event of the network, and must not end the process.
      socket.on("error", failed)
      const outbox = Outbox.make(socket, failed)
      bound({
        listen: (heard) => listen(socket, isWide, heard),
        prepare: ({ address, port }) => ({
          send: (bytes, length = bytes.length) => outbox.send(bytes, length, port, address),
          give: outbox.giver(port, address)
        }),
        close: () => void socket.close()
      })
    })
  }
}
