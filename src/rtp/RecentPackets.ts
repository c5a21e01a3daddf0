import * as RtpPacket from "./RtpPacket.ts"
import { timestampDistance } from "./SequenceNumber.ts"

/** A datagram that was copied; its header may be written over, what was read from it stays. */
export interface Recent extends RtpPacket.RtpPacket {
  /** In clock units. */
  readonly duration: number
}

interface Slot {
  readonly packet: RtpPacket.Slot & { duration: number }
  /** All of it, or its beginning, holds the datagram. */
  storage: Uint8Array
  datagram: Uint8Array
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
    const packet = { ...RtpPacket.slot(), duration: 0 }
    const made: Slot = { packet, storage: packet.bytes, datagram: packet.bytes }
    slots.push(made)
    next = slots.length % most
    return made
  }

  /** In the order of their timestamps. */
  const ordered = (): ReadonlyArray<Recent> =>
    slots.map(({ packet }) => packet).toSorted((one, other) => timestampDistance(other.timestamp, one.timestamp))

  return {
    add: (packet: RtpPacket.RtpPacket, duration: number): void => {
      const into = slot()
      const { length } = packet.bytes
      if (into.storage.length < length) into.storage = new Uint8Array(length)
      if (into.datagram.length !== length || into.datagram.buffer !== into.storage.buffer)
        into.datagram = into.storage.subarray(0, length)
      into.datagram.set(packet.bytes)
      RtpPacket.take(packet, into.packet)
      into.packet.bytes = into.datagram
      into.packet.duration = duration
    },
    /** All that are kept. */
    ordered,
    /** Those whose sound begins at this timestamp or later. */
    since: (timestamp: number): ReadonlyArray<Recent> =>
      ordered().filter((one) => timestampDistance(timestamp, one.timestamp) >= 0),
    /** The last ones up to this timestamp, or up to the newest, that follow each other without a gap; `units` long or less. */
    run: (units: number, until: number | null = null): ReadonlyArray<Recent> => {
      const row: Array<Recent> = []
      let end: number | null = until
      for (const one of ordered().toReversed()) {
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
