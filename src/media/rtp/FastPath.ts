import * as RtpPacket from "../../rtp/RtpPacket.ts"
import type { Address } from "./PacketPort.ts"
import type { Onward, PacketSink } from "./PacketSink.ts"

/** As many packets are passed on before what follows from them is worked out. */
const most = 32
/** So much more sound may come in a run than time passes. */
const mostAheadMs = 100
/** Room for a packet of speech in Opus, whose packets differ in length. */
const leastRoom = 256

/** The packet that a run begins behind. */
export interface Begin {
  readonly packet: RtpPacket.RtpPacket
  /** Of its sound, in clock units. */
  readonly duration: number
  readonly clockRate: number
  /** Of the sound in these octets; null: payloads of one length last equally long. */
  readonly durationOf: ((bytes: Uint8Array, start: number, end: number) => number) | null
  /** Where packets of the peer come from. */
  readonly from: Address
}

export type FastPath = ReturnType<typeof make>

/**
 * The fast path of packets that are passed on and that nobody else hears: a run of packets, each of which is exactly what
 * follows the one before. A datagram gets its new header and goes out. What else follows from it (statistics, the place
 * in the jitter buffer, the last packets) is left to `book`, which is called with all packets of a run and their times,
 * in order, before anybody asks for any of it: `settle`.
 *
 * Packets come one by one to a thread that slept, and then each object and each line of code that they pass costs more
 * than what it does. So this touches little memory, and the rest is done for many packets in a row.
 */
export const make = (book: (datagram: Uint8Array, at: number) => void) => {
  let onward: Onward | null = null
  let sink: PacketSink | null = null
  /** Packets of the run; a copy of each, their lengths, and what is read of the copies. */
  let count = 0
  let room = leastRoom
  let copies = new Uint8Array(0)
  const lengths = new Uint16Array(most)
  let views: Array<Uint8Array> = []
  /** When the packet in front of the run came, and each of the run. */
  const times = new Float64Array(most + 1)
  /** What the next packets have to be. Words of 32 bits are signed here: V8 gives others a box. */
  let address = ""
  let port = 0
  let ssrc = 0
  let payloadType = 0
  let number = 0
  let timestamp = 0
  let duration = 0
  let unitsPerMs = 8
  let durationOf: Begin["durationOf"] = null
  let octets = 0

  /** Packets of most codecs are equally long, so that it is seldom made anew. */
  const viewOf = (i: number): Uint8Array => {
    const length = lengths[i] ?? 0
    const known = views[i]
    if (known?.length === length) return known
    const made = copies.subarray(i * room, i * room + length)
    views[i] = made
    return made
  }

  const word = (bytes: Uint8Array, at: number): number =>
    ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)

  const writeWord = (bytes: Uint8Array, at: number, value: number): void => {
    bytes[at] = value >>> 24
    bytes[at + 1] = value >>> 16
    bytes[at + 2] = value >>> 8
    bytes[at + 3] = value
  }

  return {
    /** A run may begin behind this packet, which was passed on to `to` and whose bytes may be gone. */
    begin: (to: PacketSink, of: Begin, now: number): void => {
      const { from, packet } = of
      onward = to.onward(packet)
      if (onward === null) return
      sink = to
      const longest = Math.max(leastRoom, packet.bytes.length)
      if (copies.length === 0 || longest > room) {
        room = longest
        copies = new Uint8Array(most * room)
        views = Array.from({ length: most }, (_, i) => copies.subarray(i * room, (i + 1) * room))
      }
      times[0] = now
      address = from.address
      port = from.port
      ssrc = packet.ssrc | 0
      payloadType = packet.payloadType
      number = (packet.sequenceNumber + 1) & 0xffff
      timestamp = (packet.timestamp + of.duration) | 0
      duration = of.duration
      durationOf = of.durationOf
      octets = packet.bytes.length
      unitsPerMs = of.clockRate / 1000
    },
    /** Passes a datagram on, if it is the next of the run. False: it is not, and is as it was. `from` is lent. */
    take: (datagram: Uint8Array, from: Address, now: number): boolean => {
      if (onward === null || !onward.isValid || count === most) return false
      const { length } = datagram
      const follows = count * duration
      if (
        (length !== octets && (durationOf === null || length > room || length < RtpPacket.headerLength)) ||
        word(datagram, 0) !== ((0x8000 << 16) | (payloadType << 16) | ((number + count) & 0xffff)) ||
        word(datagram, 4) !== ((timestamp + follows) | 0) ||
        word(datagram, 8) !== ssrc ||
        from.port !== port ||
        from.address !== address ||
        follows > (now - (times[0] ?? 0) + mostAheadMs) * unitsPerMs ||
        (durationOf !== null && durationOf(datagram, RtpPacket.headerLength, length) !== duration)
      )
        return false
      const at = count * room
      copies.set(datagram, at)
      lengths[count] = length
      const sentNumber = (number + count + onward.numberOffset) & 0xffff
      const sentTimestamp = timestamp + follows + onward.timestampOffset
      writeWord(datagram, 0, (0x8000 << 16) | (onward.payloadType << 16) | sentNumber)
      writeWord(datagram, 4, sentTimestamp)
      writeWord(datagram, 8, onward.ssrc)
      count++
      times[count] = now
      onward.give(datagram)
      onward.passed(sentNumber, (sentTimestamp + duration) >>> 0, length - RtpPacket.headerLength)
      return true
    },
    /** When the last packet came whose effects are not worked out; -∞: there is none. */
    heardAt: (): number => (count === 0 ? Number.NEGATIVE_INFINITY : (times[count] ?? 0)),
    /** Ends the run, and works out what follows from its packets. */
    settle: (): void => {
      onward = null
      if (count === 0) return
      const packets = count
      count = 0
      for (let i = 0; i < packets; i++) book(viewOf(i), times[i + 1] ?? 0)
      const last = (timestamp + (packets - 1) * duration) >>> 0
      sink?.followed(packets, last, times[packets] ?? 0)
      sink = null
    }
  }
}
