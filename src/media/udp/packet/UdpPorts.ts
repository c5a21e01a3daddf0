import { isIP } from "node:net"
import * as IpAddress from "../../../domain/network/IpAddress.ts"
import type { Channel, Destination, PacketPort, PacketSocket } from "../../rtp/PacketPort.ts"
import type { Sockets, UdpSocket } from "./UdpSocket.ts"

interface Options {
  /** The IP address literal to bind; `0.0.0.0` for all of IPv4, `::` for all of both families. */
  readonly bindAddress: string
  /** The range of ports, both ends included. RTP takes even ones, RTCP the next. */
  readonly portMin: number
  readonly portMax: number
  /** Returns 32 bits, uniformly distributed and unsigned. */
  readonly random: () => number
  readonly sockets: Sockets
}

/** Ports in use by others are skipped; after this many attempts the range counts as exhausted. */
const maxAttempts = 64

const firstOf = (portMin: number): number => portMin + (portMin & 1)

/** How many pairs a range has. */
export const pairsOf = ({ portMax, portMin }: Pick<Options, "portMin" | "portMax">): number =>
  Math.max(0, Math.floor((portMax - firstOf(portMin) + 1) / 2))

/**
 * Pairs of UDP ports, RFC 3550 section 11, bound one pair a leg.
 *
 * The search begins at a random pair, so that a port is not soon given to the next call. Errors of a socket never leave
 * it: datagrams that could not be sent are counted, and so are other errors.
 */
export const make = ({ bindAddress, portMax, portMin, random, sockets }: Options) => {
  const first = firstOf(portMin)
  const pairs = pairsOf({ portMin, portMax })
  const taken = new Set<number>()
  let errors = 0
  const failed = () => {
    errors++
  }
  const bind = sockets({ bindAddress, failed })

  const bindPair = (port: number, bound: (rtp: UdpSocket | null, rtcp: UdpSocket | null) => void) =>
    bind(port, (rtp) => {
      if (rtp === null) return bound(null, null)
      bind(port + 1, (rtcp) => {
        if (rtcp === null) rtp.close()
        bound(rtcp === null ? null : rtp, rtcp)
      })
    })

  const socketOf = (port: number, pair: Readonly<Record<Channel, UdpSocket>>): PacketSocket => ({
    port,
    prepare: (channel, to): Destination => {
      // An invalid port or address comes from a session description, not from our code.
      const isReachable = isIP(to.address) !== 0 && IpAddress.reaches(bindAddress, IpAddress.family(to.address))
      if (!isReachable || to.port <= 0 || to.port > 65_535) return { address: to, send: failed, give: failed }
      const { give, send } = pair[channel].prepare({
        address: IpAddress.named(bindAddress, to.address),
        port: to.port
      })
      return { address: to, send, give }
    },
    close: () => {
      taken.delete(port)
      pair.rtp.close()
      pair.rtcp.close()
    }
  })

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
        rtp.listen((bytes, from) => onPacket("rtp", bytes, from))
        rtcp.listen((bytes, from) => onPacket("rtcp", bytes, from))
        opened(socketOf(port, { rtp, rtcp }))
      })
    }
    attempt(pairs === 0 ? 0 : random() % pairs)
  }

  return { open, errors: () => errors, taken: () => taken.size } satisfies PacketPort & Record<string, unknown>
}
