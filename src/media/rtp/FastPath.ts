import * as RecentPackets from "../../protocol/rtp/RecentPackets.ts"
import * as RtpPacket from "../../protocol/rtp/RtpPacket.ts"
import type { Address } from "./PacketPort.ts"
import type { PacketSink } from "./PacketSink.ts"

/** The most packets that are forwarded before they are booked. */
const most = RecentPackets.most
/** How much more sound than the time that passes may come in one batch of packets. */
const mostAheadMs = 100
/** A longer packet is not speech. The limit applies to codecs with packets of different lengths. */
const longest = 1500

/** The packet after which a run begins. */
interface Start {
  readonly packet: RtpPacket.RtpPacket
  /** The duration of its sound, in clock units. */
  readonly duration: number
  readonly clockRate: number
  /** Measures the sound in these octets; null: payloads of one length have the same duration. */
  readonly durationOf: ((bytes: Uint8Array, start: number, end: number) => number) | null
  /** The address that the peer sends from. */
  readonly from: Address
}

/**
 * Updates the state for a packet that was forwarded. Only its header is available, and lent. False: the packet does not
 * count, and the packets after it have to be examined.
 */
type Book = (packet: RtpPacket.RtpPacket, duration: number, at: number) => boolean

const nowhere = (): void => undefined

/**
 * The fast path of packets that are forwarded while nothing else listens to them: a run, in which each packet exactly
 * follows the one before. A datagram is copied into `recent`, gets its new header and goes out. All other updates
 * (statistics, the place in the jitter buffer, the numbers of the stream that it went out in) are made for 32 packets
 * at once, or before any of that state is read: `settle`.
 *
 * Packets come one by one to a thread that slept. The state they touch has to be fetched from memory each time, which
 * costs more than the work itself. So all state of a packet is in the variables of this function, which lie side by
 * side and hold small whole numbers (V8 boxes others elsewhere): words of 32 bits are signed, and times that need no
 * more precision are whole milliseconds.
 */
export const make = (recent: RecentPackets.RecentPackets, book: Book) => {
  let give: (bytes: Uint8Array) => void = nowhere
  /** The expected fields of the next packet; octets of 0: no run, nothing is forwarded. */
  let octets = 0
  let head = 0
  let number = 0
  let timestamp = 0
  let ssrc = 0
  let port = 0
  let address = ""
  let durationOf: Start["durationOf"] = null
  /** The duration of each packet's sound. */
  let duration = 0
  /** The sound that came since `beganAt`, and the clock units of a millisecond. */
  let came = 0
  let beganAt = 0
  let unitsPerMs = 8
  /** The header fields of the outgoing packet. */
  let headSent = 0
  let numberOffset = 0
  let timestampOffset = 0
  let ssrcSent = 0
  /** The packets that are not booked yet, and the octets of their payloads. */
  let count = 0
  let payloadOctets = 0
  let heardAt = Number.NEGATIVE_INFINITY
  let sink: PacketSink | null = null
  const packet = RtpPacket.slot()

  const word = (bytes: Uint8Array, at: number): number =>
    ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)

  const writeWord = (bytes: Uint8Array, at: number, value: number): void => {
    bytes[at] = value >>> 24
    bytes[at + 1] = value >>> 16
    bytes[at + 2] = value >>> 8
    bytes[at + 3] = value
  }

  const isAsLong = (datagram: Uint8Array): boolean => {
    const { length } = datagram
    if (durationOf === null) return length === octets
    const isSpeech = length > RtpPacket.headerLength && length <= longest
    return isSpeech && durationOf(datagram, RtpPacket.headerLength, length) === duration
  }

  const end = (): void => {
    octets = 0
    durationOf = null
    give = nowhere
  }

  const bookAll = (): void => {
    const packets = count
    if (packets === 0) return
    count = 0
    let at = heardAt
    let areCounted = true
    for (let back = packets - 1; back >= 0; back--) {
      packet.sequenceNumber = (number - back - 1) & 0xffff
      packet.timestamp = (timestamp - (back + 1) * duration) >>> 0
      at = recent.cameAt(back, heardAt)
      if (!book(packet, duration, at)) areCounted = false
    }
    sink?.followed({ packets, timestamp: packet.timestamp, duration, octets: payloadOctets, at })
    payloadOctets = 0
    if (!areCounted) end()
  }

  /** Ends the run, and books its packets. */
  const settle = (): void => {
    end()
    bookAll()
    sink = null
  }

  return {
    /** Begins a run after this packet if possible. It was forwarded to `to`, and its bytes may be gone. */
    start: (to: PacketSink, of: Start, now: number): void => {
      const { from, packet: first } = of
      if (first.payloadStart !== RtpPacket.headerLength || first.payloadEnd !== first.bytes.length) return
      const onward = to.onward(first, settle)
      if (onward === null) return
      sink = to
      give = onward.give
      octets = first.bytes.length
      head = (0x8000 | first.payloadType) << 16
      number = (first.sequenceNumber + 1) & 0xffff
      timestamp = (first.timestamp + of.duration) | 0
      ssrc = first.ssrc | 0
      port = from.port
      address = from.address
      durationOf = of.durationOf
      duration = of.duration
      unitsPerMs = of.clockRate / 1000
      came = 0
      beganAt = Math.floor(now)
      headSent = (0x8000 | onward.payloadType) << 16
      numberOffset = onward.numberOffset | 0
      timestampOffset = onward.timestampOffset | 0
      ssrcSent = onward.ssrc | 0
      RtpPacket.take(first, packet)
      packet.marker = false
    },
    /** Forwards a datagram if it is the next of the run. False: it is not, and is unchanged. `from` is lent. */
    take: (datagram: Uint8Array, from: Address, now: number): boolean => {
      if (
        octets === 0 ||
        word(datagram, 0) !== (head | number) ||
        word(datagram, 4) !== timestamp ||
        word(datagram, 8) !== ssrc ||
        !isAsLong(datagram) ||
        from.port !== port ||
        from.address !== address ||
        came > (now - beganAt + mostAheadMs) * unitsPerMs
      )
        return false
      recent.add(datagram, duration, now)
      writeWord(datagram, 0, headSent | ((number + numberOffset) & 0xffff))
      writeWord(datagram, 4, timestamp + timestampOffset)
      writeWord(datagram, 8, ssrcSent)
      number = (number + 1) & 0xffff
      timestamp = (timestamp + duration) | 0
      came += duration
      payloadOctets += datagram.length - RtpPacket.headerLength
      heardAt = Math.floor(now)
      count++
      give(datagram)
      if (count < most) return true
      bookAll()
      came = 0
      beganAt = heardAt
      return true
    },
    /** When the last packet came that was forwarded here, in whole milliseconds; -∞: there was none. */
    heardAt: (): number => heardAt,
    settle
  }
}
