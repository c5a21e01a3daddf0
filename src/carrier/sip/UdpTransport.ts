import { createSocket, type Socket } from "node:dgram"
import { isIP } from "node:net"
import { Context, Effect, Layer, Schema } from "effect"
import type { Endpoint } from "../../sip/SipMessage.ts"

/** The SIP port cannot be had; the one line that a start fails with. */
export class SipPortUnavailable extends Schema.TaggedError<SipPortUnavailable>()("SipPortUnavailable", {
  host: Schema.String,
  port: Schema.Int,
  reason: Schema.String
}) {
  override get message() {
    return `SIP_PORT: cannot listen on ${this.host}:${this.port}/udp (${this.reason})`
  }
}

export interface UdpCounters {
  /** Datagrams that the socket could not send. */
  sendErrors: number
  /** Errors of the socket itself, none of which ends it. */
  socketErrors: number
}

/**
 * One UDP socket for SIP, RFC 3261 section 18.
 *
 * Datagrams are given to the receiver one by one from the event loop, at most 32 between two other tasks (libuv's
 * bound); what comes faster than that waits in the kernel's buffer, which drops beyond its size. An error of the socket
 * is counted and never ends it. The receiver must not throw.
 */
export class UdpTransport extends Context.Service<
  UdpTransport,
  {
    readonly local: Endpoint
    /** `refused` is called when this datagram could not be sent; `to.address` must be an IP literal. */
    readonly send: (bytes: Uint8Array, to: Endpoint, refused: () => void) => void
    /** One receiver; a second replaces the first. What comes before the first is dropped. */
    readonly receive: (receiver: (bytes: Uint8Array, from: Endpoint) => void) => void
    readonly counters: Readonly<UdpCounters>
  }
>()("trunkline/carrier/sip/UdpTransport") {
  /** Binds; closes the socket with its scope. Fails with `SipPortUnavailable`. */
  static readonly layer = (options: { readonly host: string; readonly port: number }) =>
    Layer.effect(
      UdpTransport,
      Effect.gen(function* () {
        const socket = yield* Effect.acquireRelease(bind(options), close)
        const counters: UdpCounters = { sendErrors: 0, socketErrors: 0 }
        let receiver: (bytes: Uint8Array, from: Endpoint) => void = () => undefined
        socket.on("error", () => void counters.socketErrors++)
        socket.on("message", (bytes, { address, port }) => receiver(bytes, { address, port }))
        const bound = socket.address()
        return {
          local: { address: bound.address, port: bound.port },
          counters,
          send: (bytes, to, refused) => {
            const failed = () => {
              counters.sendErrors++
              refused()
            }
            // A name would be looked up, and nothing that a peer writes may make us do that.
            if (isIP(to.address) === 0) return queueMicrotask(failed)
            try {
              socket.send(bytes, to.port, to.address, (error) => {
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
    )
}

/** A burst of calls arrives faster than one turn of the event loop; Linux doubles and caps it as it likes. */
const bufferBytes = 4 * 1024 * 1024

const bind = ({ host, port }: { readonly host: string; readonly port: number }) =>
  Effect.callback<Socket, SipPortUnavailable>((resume) => {
    const socket = createSocket({ type: isIP(host) === 6 ? "udp6" : "udp4", recvBufferSize: bufferBytes })
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
