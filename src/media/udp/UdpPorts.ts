import { createSocket, type Socket } from "node:dgram"
import { isIP, isIPv6 } from "node:net"
import * as IpAddress from "../../domain/IpAddress.ts"
import type { Channel, Destination, PacketPort, PacketSocket } from "../rtp/PacketPort.ts"
import * as Outbox from "./Outbox.ts"

interface Options {
  /** IP address literal to bind; `0.0.0.0` for all of IPv4, `::` for all of both families. */
  readonly bindAddress: string
  /** Range of ports, both ends included. RTP takes even ones, RTCP the next. */
  readonly portMin: number
  readonly portMax: number
  /** Uniform unsigned 32 bits. */
  readonly random: () => number
}

/** Ports that others hold are passed over; past so many the range counts as exhausted. */
const maxAttempts = 64

const mapped = "::ffff:"

type Lookup = (
  hostname: string,
  options: unknown,
  callback: (error: null, address: string, family: number) => void
) => void

/**
 * Peers are address literals: asking the resolver for every packet is waste, and waiting for it would reorder them. Only
 * those of IPv6 have a colon.
 */
const lookup: Lookup = (hostname, _, callback) => callback(null, hostname, hostname.includes(":") ? 6 : 4)

const firstOf = (portMin: number): number => portMin + (portMin & 1)

/** How many pairs a range has. */
export const pairsOf = ({ portMax, portMin }: Pick<Options, "portMin" | "portMax">): number =>
  Math.max(0, Math.floor((portMax - firstOf(portMin) + 1) / 2))

/**
 * Pairs of UDP ports, RFC 3550 section 11, bound one pair a leg.
 *
 * The search begins at a random pair, so that a port is not soon given to the next call. Errors of a socket never leave
 * it: datagrams that could not be sent are counted, and so is what else a socket tells of.
 */
export const make = ({ bindAddress, portMax, portMin, random }: Options) => {
  const first = firstOf(portMin)
  const pairs = pairsOf({ portMin, portMax })
  const taken = new Set<number>()
  /** Sockets of both families. */
  const isWide = isIPv6(bindAddress)
  let errors = 0
  const failed = () => {
    errors++
  }

  const bind = (port: number, bound: (socket: Socket | null) => void) => {
    const socket = createSocket({ type: isWide ? "udp6" : "udp4", ipv6Only: false, lookup })
    const refused = () => {
      socket.close()
      bound(null)
    }
    socket.once("error", refused)
    socket.bind({ port, address: bindAddress, exclusive: true }, () => {
      socket.off("error", refused)
      // An ICMP answer or a full buffer is an event of the network, never the end of the process.
      socket.on("error", failed)
      bound(socket)
    })
  }

  const bindPair = (port: number, bound: (rtp: Socket | null, rtcp: Socket | null) => void) =>
    bind(port, (rtp) => {
      if (rtp === null) return bound(null, null)
      bind(port + 1, (rtcp) => {
        if (rtcp === null) rtp.close()
        bound(rtcp === null ? null : rtp, rtcp)
      })
    })

  const socketOf = (port: number, rtp: Socket, rtcp: Socket): PacketSocket => {
    const outboxes = { rtp: Outbox.make(rtp, failed), rtcp: Outbox.make(rtcp, failed) }
    return {
      port,
      prepare: (channel, to): Destination => {
        // A port or an address out of range comes from a session description, not from us.
        const isReachable = isIP(to.address) !== 0 && IpAddress.reaches(bindAddress, IpAddress.family(to.address))
        if (!isReachable || to.port <= 0 || to.port > 65_535) return { address: to, send: failed, give: failed }
        const outbox = outboxes[channel]
        const address = IpAddress.named(bindAddress, to.address)
        return {
          address: to,
          send: (bytes, length = bytes.length) => outbox.send(bytes, length, to.port, address),
          give: outbox.giver(to.port, address)
        }
      },
      close: () => {
        taken.delete(port)
        rtp.close()
        rtcp.close()
      }
    }
  }

  const freeFrom = (start: number): number | null => {
    for (let i = 0; i < pairs; i++) {
      const port = first + 2 * ((start + i) % pairs)
      if (!taken.has(port)) return port
    }
    return null
  }

  const open: PacketPort["open"] = (onPacket, opened) => {
    let attempts = 0
    const attempt = (start: number): void => {
      const port = attempts < maxAttempts ? freeFrom(start) : null
      if (port === null) return opened(null)
      attempts++
      taken.add(port)
      bindPair(port, (rtp, rtcp) => {
        if (rtp === null || rtcp === null) {
          taken.delete(port)
          return attempt((port - first) / 2 + 1)
        }
        const listen = (channel: Channel, socket: Socket) =>
          isWide
            ? socket.on("message", (bytes, from) => {
                // A socket on `::` writes IPv4 as IPv6. Node gives us the object of the sender, so it may be changed.
                if (from.address.startsWith(mapped)) from.address = from.address.slice(mapped.length)
                onPacket(channel, bytes, from)
              })
            : socket.on("message", (bytes, from) => onPacket(channel, bytes, from))
        listen("rtp", rtp)
        listen("rtcp", rtcp)
        opened(socketOf(port, rtp, rtcp))
      })
    }
    attempt(pairs === 0 ? 0 : random() % pairs)
  }

  return { open, errors: () => errors, taken: () => taken.size } satisfies PacketPort & Record<string, unknown>
}
