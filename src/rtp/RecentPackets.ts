import type { RtpPacket } from "./RtpPacket.ts"
import { timestampDistance } from "./SequenceNumber.ts"

/** A datagram that was copied; its header may be written over, what was read from it stays. */
export interface Recent extends RtpPacket {
  /** In clock units. */
  readonly duration: number
}

interface Slot {
  payloadType: number
  marker: boolean
  sequenceNumber: number
  timestamp: number
  ssrc: number
  bytes: Uint8Array
  payloadStart: number
  payloadEnd: number
  duration: number
  storage: Uint8Array
}

/** As many as can wait in a jitter buffer, and some that were played: 240 ms in packets of 10 ms, and 80 ms. */
const most = 32

export type RecentPackets = ReturnType<typeof make>

/** The packets of sound of one stream that came last, in memory that is used again. */
export const make = () => {
  const slots: Array<Slot> = []
  let next = 0

  const slot = (): Slot => {
    const known = slots[next]
    if (known !== undefined) {
      next = (next + 1) % most
      return known
    }
    const none = new Uint8Array(0)
    const made: Slot = {
      payloadType: 0,
      marker: false,
      sequenceNumber: 0,
      timestamp: 0,
      ssrc: 0,
      bytes: none,
      payloadStart: 0,
      payloadEnd: 0,
      duration: 0,
      storage: none
    }
    slots.push(made)
    next = slots.length % most
    return made
  }

  /** In the order of their timestamps. */
  const ordered = (from: ReadonlyArray<Recent>): ReadonlyArray<Recent> =>
    from.toSorted((one, other) => timestampDistance(other.timestamp, one.timestamp))

  return {
    add: (packet: RtpPacket, duration: number): void => {
      const into = slot()
      const { length } = packet.bytes
      if (into.storage.length < length) into.storage = new Uint8Array(length)
      if (into.bytes.length !== length || into.bytes.buffer !== into.storage.buffer)
        into.bytes = into.storage.subarray(0, length)
      into.bytes.set(packet.bytes)
      into.payloadType = packet.payloadType
      into.marker = packet.marker
      into.sequenceNumber = packet.sequenceNumber
      into.timestamp = packet.timestamp
      into.ssrc = packet.ssrc
      into.payloadStart = packet.payloadStart
      into.payloadEnd = packet.payloadEnd
      into.duration = duration
    },
    /** Those whose sound begins at this timestamp or later. */
    since: (timestamp: number): ReadonlyArray<Recent> =>
      ordered(slots.filter((one) => timestampDistance(timestamp, one.timestamp) >= 0)),
    /** The last ones up to this timestamp, or up to the newest, that follow each other without a gap; `units` long or less. */
    run: (units: number, until: number | null = null): ReadonlyArray<Recent> => {
      const row: Array<Recent> = []
      let end: number | null = until
      for (const one of ordered(slots).toReversed()) {
        const ends = (one.timestamp + one.duration) >>> 0
        if (end !== null && timestampDistance(end, ends) > 0) continue
        if (end !== null && ends !== end) break
        row.push(one)
        end = one.timestamp
        units -= one.duration
        if (units <= 0) break
      }
      return row.toReversed()
    },
    /** Another stream begins. */
    clear: (): void => {
      slots.length = 0
      next = 0
    }
  }
}
