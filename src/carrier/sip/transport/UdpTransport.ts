import { createSocket, type Socket } from "node:dgram"
import { isIP } from "node:net"
import { Effect, Schema, type Scope } from "effect"
import * as IpAddress from "../../../domain/network/IpAddress.ts"
import type { Flow } from "../../../protocol/sip/Flow.ts"
import type { Endpoint } from "../../../protocol/sip/message/SipMessage.ts"
import type { Receiver, Transport } from "./Transports.ts"

/** The SIP port cannot be bound. The start fails with this one line. */
export class SipPortUnavailable extends Schema.TaggedError<SipPortUnavailable>()("SipPortUnavailable", {
  host: Schema.String,
  port: Schema.Int,
  reason: Schema.String
}) {
  override get message() {
    return `SIP_PORT: cannot listen on ${IpAddress.host(this.host)}:${this.port}/udp (${this.reason})`
  }
}

interface UdpCounters {
  /** Datagrams that the socket could not send. */
  sendErrors: number
  /** Datagrams of an address family in which we have no address. */
  strangers: number
  /** Errors of the socket itself; none of them ends it. */
  socketErrors: number
}

export interface UdpTransport extends Transport {
  /** The address that the socket is bound to. */
  readonly bound: Endpoint
  readonly counters: Readonly<UdpCounters>
}

export interface Options {
  /** IP literal to listen on; `::` is every address of both families. */
  readonly host: string
  readonly port: number
  /** The addresses at which peers of each family reach us. */
  readonly publicAddresses: IpAddress.Addresses
}

/**
 * A UDP socket for SIP, RFC 3261 section 18; closed with the scope.
 *
 * The receiver gets datagrams one by one from the event loop, at most 32 between two other tasks (libuv's bound).
 * Faster ones wait in the kernel's buffer, which drops the excess. An error of the socket is counted and never ends it.
 */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<UdpTransport, SipPortUnavailable, Scope.Scope> {
  const socket = yield* Effect.acquireRelease(bind(options), close)
  const counters: UdpCounters = { sendErrors: 0, strangers: 0, socketErrors: 0 }
  const { address, port } = socket.address()
  const granted = socket.getRecvBufferSize()
  if (granted < bufferBytes)
    yield* Effect.logWarning("the kernel gives SIP a small receive buffer: raise net.core.rmem_max").pipe(
      Effect.annotateLogs({ bytes: granted, wanted: bufferBytes })
    )
  const announcedTo = (peer: string): Endpoint | null => {
    const family = IpAddress.family(peer)
    const announced = options.publicAddresses[family]
    return announced === null || !IpAddress.reaches(address, family) ? null : { address: announced, port }
  }
  const localTo = (peer: string): Endpoint | null => {
    const announced = announcedTo(peer)
    return announced === null || IpAddress.isUnspecified(address) ? announced : { address, port }
  }
  let receiver: Receiver = () => undefined
  const flow = (local: Endpoint, remote: Endpoint): Flow => ({ transport: "udp", local, remote, connection: null })
  socket.on("error", () => void counters.socketErrors++)
  socket.on("message", (bytes, from) => {
    const remote = { address: IpAddress.canonical(from.address) ?? from.address, port: from.port }
    const local = localTo(remote.address)
    if (local === null) counters.strangers++
    else receiver(bytes, flow(local, remote))
  })
  return {
    type: "udp",
    bound: { address, port },
    counters,
    localTo,
    announcedTo,
    open: (remote) => flow(localTo(remote.address) ?? { address, port }, remote),
    send: (bytes, { remote }, refused) => {
      const failed = () => {
        counters.sendErrors++
        refused()
      }
      // Node would look up a name, and the text of a peer must never cause a lookup.
      if (isIP(remote.address) === 0 || localTo(remote.address) === null) return queueMicrotask(failed)
      try {
        socket.send(bytes, remote.port, IpAddress.named(address, remote.address), (error) => {
          if (error !== null) failed()
        })
      } catch {
        queueMicrotask(failed)
      }
    },
    receive: (next) => {
      receiver = next
    }
  }
})

/** Holds a burst of calls that arrives during one turn of the event loop. Linux doubles it, up to its own limit. */
const bufferBytes = 4 * 1024 * 1024

const bind = ({ host, port }: { readonly host: string; readonly port: number }) =>
  Effect.callback<Socket, SipPortUnavailable>((resume) => {
    const socket = createSocket({
      type: isIP(host) === 6 ? "udp6" : "udp4",
      ipv6Only: false,
      recvBufferSize: bufferBytes
    })
    const failed = (error: NodeJS.ErrnoException) => {
      socket.close()
      resume(Effect.fail(new SipPortUnavailable({ host, port, reason: error.code ?? error.message })))
    }
    socket.once("error", failed)
    socket.bind({ address: host, port, exclusive: true }, () => {
      socket.off("error", failed)
      resume(Effect.succeed(socket))
    })
  })

const close = (socket: Socket) => Effect.callback<void>((resume) => void socket.close(() => resume(Effect.void)))
