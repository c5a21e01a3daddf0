import type { Address, Channel, OnPacket, PacketPort, PacketSocket } from "../../../src/media/rtp/PacketPort.ts"

export interface Datagram {
  readonly channel: Channel
  readonly bytes: Uint8Array
  readonly from: Address
  readonly to: Address
}

/** The effect of the network on a datagram: when each copy of it arrives, in milliseconds from now; none: lost. */
export type Weather = (datagram: Datagram) => ReadonlyArray<number>

const longest = 4096

/** A pair of ports whose packets arrive nowhere. */
export const deaf = (port: number, close: () => void): PacketSocket => ({
  port,
  prepare: (_, address) => ({ address, send: () => undefined, give: () => undefined }),
  close
})

/**
 * A network of packet ports in memory, moved by `deliver(now)`. Every datagram is kept in `sent`.
 *
 * It follows the contract of the port strictly: all datagrams arrive in the same buffer, from the same address object,
 * and both are overwritten when the call returns. Code that keeps lent memory reads noise.
 */
export const make = (weather: Weather = () => [0]) => {
  const sockets = new Map<number, OnPacket>()
  const lentBytes = new Uint8Array(longest)
  const lentFrom = { address: "", port: 0 }
  const sent: Array<Datagram> = []
  let inFlight: Array<{ readonly at: number; readonly datagram: Datagram }> = []
  let nextPort = 40_000
  let now = 0

  const receive = ({ bytes, channel, from, to }: Datagram) => {
    const onPacket = sockets.get(to.port - (channel === "rtcp" ? 1 : 0))
    if (onPacket === undefined) return
    lentBytes.set(bytes)
    Object.assign(lentFrom, from)
    onPacket(channel, lentBytes.subarray(0, bytes.length), lentFrom)
    lentBytes.fill(0x55)
    Object.assign(lentFrom, { address: "203.0.113.255", port: 1 })
  }

  const send = (datagram: Datagram) => {
    sent.push(datagram)
    for (const delay of weather(datagram)) inFlight.push({ at: now + delay, datagram })
  }

  const port: PacketPort = {
    open: (onPacket, opened) => {
      const number = nextPort
      nextPort += 2
      sockets.set(number, onPacket)
      opened({
        port: number,
        prepare: (channel, to) => {
          const sendOn = (bytes: Uint8Array, length?: number) =>
            send({
              channel,
              bytes: bytes.slice(0, length),
              to: { address: to.address, port: to.port },
              from: { address: "127.0.0.1", port: number + (channel === "rtcp" ? 1 : 0) }
            })
          return { address: to, send: sendOn, give: sendOn }
        },
        close: () => void sockets.delete(number)
      })
    }
  }

  return {
    port,
    sent,
    send,
    /** Hands a datagram over at once, whatever the weather. */
    receive,
    bound: () => sockets.size,
    deliver: (at: number) => {
      now = at
      const due = inFlight.filter((flight) => flight.at <= at).sort((a, b) => a.at - b.at)
      inFlight = inFlight.filter((flight) => flight.at > at)
      for (const { datagram } of due) receive(datagram)
    }
  }
}
