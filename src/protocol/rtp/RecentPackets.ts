import * as RtpPacket from "./RtpPacket.ts"
import { timestampDistance } from "./SequenceNumber.ts"

/** A datagram that was copied. Its header may be overwritten; the fields that were read from it stay. */
export interface Recent extends RtpPacket.RtpPacket {
  /** The duration in clock units. */
  readonly duration: number
}

/** The packets that can wait in a jitter buffer, and some that were played: 240 ms in packets of 10 ms, and 80 ms. */
export const most = 32
/** A longer datagram is not kept. The limit is a codec's longest frame, with possible fields before and after it. */
export const mostOctets = 2304
/** The note before a packet: its duration and arrival time (microseconds, wraps), 32 bits each; its length, 16. */
const noteOctets = 10
/** The room of a packet of G.711, rounded up to the processor's cache lines of 64. */
const leastSlotOctets = 192

export type RecentPackets = ReturnType<typeof make>

/**
 * The newest packets of sound of one stream, in one piece of memory that is reused: a packet that comes costs only a
 * copy, and is parsed on demand.
 */
export const make = () => {
  let memory = new Uint8Array(0)
  let slotOctets = 0
  let next = 0
  let count = 0

  const word = (at: number): number =>
    (((memory[at] ?? 0) << 24) |
      ((memory[at + 1] ?? 0) << 16) |
      ((memory[at + 2] ?? 0) << 8) |
      (memory[at + 3] ?? 0)) >>>
    0

  const writeWord = (at: number, value: number): void => {
    memory[at] = value >>> 24
    memory[at + 1] = value >>> 16
    memory[at + 2] = value >>> 8
    memory[at + 3] = value
  }

  /** Gives each packet room for this many octets. */
  const widen = (octets: number): void => {
    const [before, width] = [memory, slotOctets]
    slotOctets = Math.max(leastSlotOctets, Math.ceil((noteOctets + octets) / 64) * 64)
    memory = new Uint8Array(most * slotOctets)
    if (width > 0)
      for (let i = 0; i < most; i++) memory.set(before.subarray(i * width, (i + 1) * width), i * slotOctets)
  }

  /** The place of the packet `back` before the last one. */
  const placeOf = (back: number): number => ((next - 1 - back + 2 * most) % most) * slotOctets

  const kept = (back: number): Recent | null => {
    const at = placeOf(back)
    const length = ((memory[at + 8] ?? 0) << 8) | (memory[at + 9] ?? 0)
    const packet = RtpPacket.reader()(memory.subarray(at + noteOctets, at + noteOctets + length))
    return typeof packet === "string" ? null : { ...packet, duration: word(at) }
  }

  /** Sorts the packets by their timestamps. */
  const ordered = (): ReadonlyArray<Recent> =>
    Array.from({ length: count }, (_, i) => kept(count - 1 - i))
      .filter((packet) => packet !== null)
      .sort((one, other) => timestampDistance(other.timestamp, one.timestamp))

  return {
    /** Keeps a datagram with one packet, whose sound lasts `duration` clock units. False: it is too long. */
    add: (datagram: Uint8Array, duration: number, now: number): boolean => {
      const { length } = datagram
      if (length > mostOctets) return false
      if (noteOctets + length > slotOctets) widen(length)
      const at = next * slotOctets
      writeWord(at, duration)
      writeWord(at + 4, Math.round(now * 1000))
      memory[at + 8] = length >>> 8
      memory[at + 9] = length
      memory.set(datagram, at + noteOctets)
      next = next + 1 === most ? 0 : next + 1
      if (count < most) count++
      return true
    },
    /** When the packet `back` before the last one came, to the microsecond; `near` is within half an hour of it. */
    cameAt: (back: number, near: number): number =>
      near + ((word(placeOf(back) + 4) - (Math.round(near * 1000) >>> 0)) | 0) / 1000,
    /** All packets that are kept. */
    ordered,
    /** Returns the packets whose sound begins at this timestamp or later. */
    since: (timestamp: number): ReadonlyArray<Recent> =>
      ordered().filter((one) => timestampDistance(timestamp, one.timestamp) >= 0),
    /**
     * Returns the last packets that follow each other without a gap, up to the timestamp `until`, or up to the newest,
     * and about `units` long.
     */
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
    /** Forgets all packets, because another stream begins. */
    clear: (): void => {
      next = 0
      count = 0
    }
  }
}
