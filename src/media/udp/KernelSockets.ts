import { createSocket, type Socket } from "node:dgram"
import { isIPv6 } from "node:net"
import type { Libc } from "./Libc.ts"
import * as SocketName from "./SocketName.ts"
import * as UdpSocket from "./UdpSocket.ts"

/** Of a socket that is closed: the kernel gives its number to the next one that anybody opens. */
const closed = -1

/**
 * Sockets that send by calls of the kernel and are received from by Node, on Linux.
 *
 * A datagram is the kernel's when the call returns, so nothing of it is kept and nothing is left behind to collect. What
 * the kernel has no room for is dropped and counted: a socket holds hundreds of packets of speech, all of which would
 * come seconds late.
 */
export const make =
  (libc: Libc): UdpSocket.Sockets =>
  ({ bindAddress, failed }) => {
    const isWide = isIPv6(bindAddress)

    const socketOf = (socket: Socket, opened: number): UdpSocket.UdpSocket => {
      let descriptor = opened
      return {
        listen: (heard) => UdpSocket.listen(socket, isWide, heard),
        prepare: (to) => {
          const name = SocketName.make(to, libc.interfaceOf)
          if (name === null) return { send: failed, give: failed }
          const send = (bytes: Uint8Array, length: number): void => {
            if (descriptor === closed || !libc.send(descriptor, bytes, length, name)) failed()
          }
          return {
            send: (bytes, length = bytes.length) => send(bytes, length),
            give: (bytes) => send(bytes, bytes.length)
          }
        },
        close: () => {
          descriptor = closed
          socket.close()
        }
      }
    }

    return (port, bound) => {
      const name = SocketName.make({ address: bindAddress, port }, libc.interfaceOf)
      const descriptor = name === null ? null : libc.open(name)
      if (descriptor === null) return bound(null)
      const socket = createSocket(isWide ? "udp6" : "udp4")
      socket.on("error", failed)
      try {
        // From here on Node owns the descriptor, and closes it.
        socket.bind({ fd: descriptor, exclusive: true })
      } catch {
        libc.close(descriptor)
        socket.close()
        return bound(null)
      }
      // Node allows others, who allow it too, to have a port that it was given.
      libc.holdAlone(descriptor)
      bound(socketOf(socket, descriptor))
    }
  }
