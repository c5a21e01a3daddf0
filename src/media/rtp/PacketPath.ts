import * as Codecs from "../../protocol/audio/codec/Codecs.ts"
import * as RtpPacket from "../../protocol/rtp/RtpPacket.ts"
import { distance, extend, timestampDistance } from "../../protocol/rtp/SequenceNumber.ts"
import * as TelephoneEvent from "../../protocol/rtp/TelephoneEvent.ts"
import type { Destination } from "./PacketPort.ts"
import type { PacketSink } from "./PacketSink.ts"
import type { Encoding, RtpSender } from "./RtpSender.ts"

/** A sequence number that jumps by more belongs to another timeline. */
const longestStep = 1000
/** An event whose last packet is older than this has ended, even without an end bit. */
const eventGapMs = 100
const frameMs = 20

interface Options {
  readonly sender: RtpSender
  /** The codec and payload types of the peer; null: it cannot be sent to now. */
  readonly encoding: () => Encoding | null
  /** The address of the peer; null: it cannot be sent to now. */
  readonly destination: () => Destination | null
}

/** A path for packets of another leg into the stream to a peer. */
interface PacketPath extends PacketSink {
  readonly isOpen: () => boolean
  /** Called before the peer moves, its encoding changes, or the state of the stream is read. */
  readonly settle: () => void
}

/**
 * The packets of another source in our stream: they get our SSRC, and continue our numbers and timestamps.
 *
 * Numbers and timestamps are shifted by the same amount for all packets of a source, so that the peer sees the effects
 * of the network: lost packets are missing, reordered ones come out of order, and it has time to repair that. When the
 * source changes, or jumps, the stream continues with the next number, with a timestamp that is later by the time that
 * has passed, and with the marker. Packets from before `begin` are not forwarded, because their numbers are taken.
 */
export const make = ({ destination, encoding, sender }: Options): PacketPath => {
  const header = { payloadType: 0, marker: false, sequenceNumber: 0, timestamp: 0, ssrc: sender.ssrc }
  /** The SSRC of the source; -1: none yet. */
  let source = -1
  let isOpen = false
  /** The codec of the source, which is the one agreed with the peer. */
  let codec: Codecs.CodecName = "PCMU"
  let clockRate = 0
  let startsAt = 0
  let timestampOffset = 0
  let numberOffset = 0
  /** Extended numbers of the source: the first that was forwarded, and the highest. */
  let first = 0
  let highest = 0
  let lastTimestamp = 0
  let passedAt = 0
  /** The event that is being forwarded: its timestamp in our stream, and its last packet. */
  let eventAt = 0
  let eventCode = -1
  let eventDuration = 0
  let eventHeardAt = Number.NEGATIVE_INFINITY
  /** Settles the source whose packets go out on the fast path, without `pass`. */
  let settleSource = (): void => undefined

  const anchor = (packet: RtpPacket.RtpPacket): void => {
    source = packet.ssrc
    numberOffset = sender.nextSequenceNumber() - packet.sequenceNumber
    first = packet.sequenceNumber + 0x1_0000
    highest = first
    lastTimestamp = packet.timestamp
  }

  const settle = (): void => settleSource()

  const isElsewhere = ({ sequenceNumber, ssrc }: RtpPacket.RtpPacket, timestamp: number): boolean =>
    ssrc !== source ||
    Math.abs(distance(highest & 0xffff, sequenceNumber)) > longestStep ||
    Math.abs(timestampDistance(lastTimestamp, timestamp)) > clockRate

  const note = ({ bytes, payloadEnd, payloadStart }: RtpPacket.RtpPacket, at: number, now: number): number => {
    if (payloadEnd - payloadStart < 4) return at
    const isEnd = ((bytes[payloadStart + 1] ?? 0) & 0x80) !== 0
    eventAt = at
    eventCode = isEnd ? -1 : (bytes[payloadStart] ?? 0)
    eventDuration = ((bytes[payloadStart + 2] ?? 0) << 8) | (bytes[payloadStart + 3] ?? 0)
    eventHeardAt = now
    return (at + eventDuration) >>> 0
  }

  return {
    start: (timestamp, now) => {
      settle()
      const to = encoding()
      if (to === null) return false
      const length = sender.flush(to)
      if (length > 0) destination()?.send(sender.bytes, length)
      codec = to.codec
      clockRate = Codecs.table[codec].clockRate
      source = -1
      isOpen = true
      startsAt = timestamp
      timestampOffset = sender.nextTimestamp() - timestamp
      passedAt = now
      eventCode = -1
      return true
    },
    takesEvent: (packet) => {
      const to = encoding()
      if (to === null || to.telephoneEvent === null || to.codec !== codec) return false
      if (source === -1) return timestampDistance(startsAt, packet.timestamp) >= 0
      return !isElsewhere(packet, packet.timestamp) && extend(highest, packet.sequenceNumber) >= first
    },
    pass: (packet, duration, now, timestamp = packet.timestamp) => {
      const to = encoding()
      // Another codec was agreed with the peer, and frames are sent from the next turn on.
      if (to === null || to.codec !== codec) return
      const isEvent = duration === 0
      const payloadType = isEvent ? to.telephoneEvent?.send : to.audio.send
      if (payloadType === undefined) return
      let isMarked = packet.marker
      if (source === -1) {
        if (timestampDistance(startsAt, timestamp) < 0) return
        anchor(packet)
      } else if (isElsewhere(packet, timestamp)) {
        // An event alone does not prove a new timeline: it may have begun long ago.
        if (isEvent) return
        const passedUnits = Math.round((Math.max(0, now - passedAt - frameMs) * clockRate) / 1000)
        timestampOffset = sender.nextTimestamp() + passedUnits - packet.timestamp
        anchor(packet)
        isMarked = true
      }
      const number = extend(highest, packet.sequenceNumber)
      if (number < first) return
      if (number > highest) highest = number
      header.payloadType = payloadType
      header.marker = isMarked
      header.sequenceNumber = (packet.sequenceNumber + numberOffset) & 0xffff
      header.timestamp = (timestamp + timestampOffset) >>> 0
      const octets = packet.payloadEnd - packet.payloadStart
      lastTimestamp = timestamp
      passedAt = now
      const end = isEvent ? note(packet, header.timestamp, now) : (header.timestamp + duration) >>> 0
      RtpPacket.rewrite(packet.bytes, header)
      destination()?.give(packet.bytes)
      sender.passed(header.sequenceNumber, end, octets, 1)
    },
    onward: (packet, settled) => {
      const to = encoding()
      const there = destination()
      if (to === null || to.codec !== codec || there === null || !isOpen) return null
      const isLast = packet.ssrc === source && packet.sequenceNumber === (highest & 0xffff)
      if (!isLast || packet.timestamp !== lastTimestamp) return null
      settleSource = settled
      return { payloadType: to.audio.send, ssrc: sender.ssrc, numberOffset, timestampOffset, give: there.give }
    },
    followed: ({ at, duration, octets, packets, timestamp }) => {
      highest += packets
      lastTimestamp = timestamp
      passedAt = at
      sender.passed((highest + numberOffset) & 0xffff, (timestamp + timestampOffset + duration) >>> 0, octets, packets)
    },
    isOpen: () => isOpen,
    settle,
    end: (now) => {
      settle()
      isOpen = false
      const frames = Math.floor((now - passedAt) / frameMs) - 1
      if (frames > 1) sender.skip(frames)
      if (eventCode === -1 || now - eventHeardAt > eventGapMs) return
      const event = { event: eventCode, end: true, volume: 10, duration: eventDuration }
      sender.finish(TelephoneEvent.write(event), eventAt)
    }
  }
}
