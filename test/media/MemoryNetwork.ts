import type { Address, Channel, PacketPort } from "../../src/media/PacketPort.ts"

export interface Datagram {
  readonly channel: Channel
  readonly bytes: Uint8Array
  readonly from: Address
  readonly to: Address
}

/** What the network does to a datagram: when each copy of it arrives, in milliseconds from now; none: lost. */
export type Weather = (datagram: Datagram) => ReadonlyArray<number>

/** A network of packet ports in memory, moved by `deliver(now)`. Every datagram is kept in `sent`. */
export const make = (weather: Weather = () => [0]) => {
  const sockets = new Map<number, (channel: Channel, bytes: Uint8Array, from: Address) => void>()
  const sent: Array<Datagram> = []
  let inFlight: Array<{ readonly at: number; readonly datagram: Datagram }> = []
  let nextPort = 40_000
  let now = 0

  const receive = ({ bytes, channel, from, to }: Datagram) =>
    sockets.get(to.port - (channel === "rtcp" ? 1 : 0))?.(channel, bytes, from)

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
        send: (channel, bytes, to) =>
          send({ channel, bytes, to, from: { address: "127.0.0.1", port: number + (channel === "rtcp" ? 1 : 0) } }),
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
