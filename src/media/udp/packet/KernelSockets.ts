import * as Descriptors from "./Descriptors.ts"
import type { KernelReceiver, Received } from "./KernelReceiver.ts"
import type { Libc } from "./Libc.ts"
import * as SocketName from "./SocketName.ts"
import type * as UdpSocket from "./UdpSocket.ts"

/** Replaces the descriptor of a closed socket, because the kernel reuses its number for the next one opened. */
const closed = -1

/**
 * Sockets by system calls, without those of Node, on Linux.
 *
 * The kernel has a datagram when the call returns, so none is kept and no objects are left to collect. A datagram for
 * which the kernel has no room is dropped and counted: a socket holds hundreds of packets of speech, all of which would
 * come seconds late.
 */
export const make =
  ({
    descriptors,
    libc,
    receiver
  }: {
    readonly libc: Libc
    readonly receiver: KernelReceiver
    readonly descriptors: Descriptors.Descriptors
  }): UdpSocket.Sockets =>
  ({ bindAddress, failed }) => {
    const close = (descriptor: number): void => {
      Descriptors.closing(descriptors, descriptor)
      libc.close(descriptor)
    }

    const socketOf = (opened: number, received: Received): UdpSocket.UdpSocket => {
      let descriptor = opened
      return {
        listen: received.listen,
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
          if (descriptor === closed) return
          descriptor = closed
          received.close()
          close(opened)
        }
      }
    }

    return (port, bound) => {
      const name = SocketName.make({ address: bindAddress, port }, libc.interfaceOf)
      const descriptor = name === null ? null : libc.open(name)
      if (descriptor === null) return bound(null)
      const received = Descriptors.opened(descriptors, descriptor) ? receiver.add(descriptor) : null
      if (received !== null) return bound(socketOf(descriptor, received))
      close(descriptor)
      return bound(null)
    }
  }
