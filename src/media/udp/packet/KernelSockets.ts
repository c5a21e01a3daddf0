import * as Descriptors from "./Descriptors.ts"
import type { KernelReceiver, Received } from "./KernelReceiver.ts"
import type { Libc } from "./Libc.ts"
import * as SocketName from "./SocketName.ts"
import type * as UdpSocket from "./UdpSocket.ts"

/** Of a socket that is closed: the kernel gives its number to the next one that anybody opens. */
const closed = -1

/**
 * Sockets of the kernel, without those of Node, on Linux.
 *
 * A datagram is the kernel's when the call returns, so nothing of it is kept and nothing is left behind to collect. What
 * the kernel has no room for is dropped and counted: a socket holds hundreds of packets of speech, all of which would
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
