import * as RtpPacket from "./RtpPacket.ts"
import { timestampDistance } from "./SequenceNumber.ts"

/** A datagram that was copied; its header may be written over, what was read from it stays. */
export interface Recent extends RtpPacket.RtpPacket {
  /** In clock units. */
  readonly duration: number
}

/** As many as can wait in a jitter buffer, and some that were played: 240 ms in packets of 10 ms, and 80 ms. */
export const most = 32
/** A longer datagram is not kept: the longest frame of a codec, and what may stand in front of it and behind it. */
export const mostOctets = 2304
/** In front of each: how long its sound lasts, and when it came (microseconds, wraps), 32 bits each; its length, 16 bits. */
const noteOctets = 10
/** Room for a packet of G.711, which begins where the memory of the one before has ended in the processor's lines of 64. */
const leastRoom = 192

export type RecentPackets = ReturnType<typeof make>

/**
 * The packets of sound of one stream that came last, in one piece of memory that is used again: a packet that comes costs
 * a copy, and is read again only when somebody asks for it.
 */
export const make = () => {
  let memory = new Uint8Array(0)
  let room = 0
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

  /** Gives each packet so much room. */
  const widen = (octets: number): void => {
    const [before, width] = [memory, room]
    room = Math.max(leastRoom, Math.ceil((noteOctets + octets) / 64) * 64)
    memory = new Uint8Array(most * room)
    if (width > 0) for (let i = 0; i < most; i++) memory.set(before.subarray(i * width, (i + 1) * width), i * room)
  }

  /** So many packets before the last one. */
  const placeOf = (back: number): number => ((next - 1 - back + 2 * most) % most) * room

  const kept = (back: number): Recent | null => {
    const at = placeOf(back)
    const length = ((memory[at + 8] ?? 0) << 8) | (memory[at + 9] ?? 0)
    const packet = RtpPacket.reader()(memory.subarray(at + noteOctets, at + noteOctets + length))
    return typeof packet === "string" ? null : { ...packet, duration: word(at) }
  }

  /** In the order of their timestamps. */
  const ordered = (): ReadonlyArray<Recent> =>
    Array.from({ length: count }, (_, i) => kept(count - 1 - i))
      .filter((packet) => packet !== null)
      .sort((one, other) => timestampDistance(other.timestamp, one.timestamp))

  return {
    /** Keeps a datagram that holds a packet, and whose sound lasts so many clock units. False: it is too long. */
    add: (datagram: Uint8Array, duration: number, now: number): boolean => {
      const { length } = datagram
      if (length > mostOctets) return false
      if (noteOctets + length > room) widen(length)
      const at = next * room
      writeWord(at, duration)
      writeWord(at + 4, Math.round(now * 1000))
      memory[at + 8] = length >>> 8
      memory[at + 9] = length
      memory.set(datagram, at + noteOctets)
      next = next + 1 === most ? 0 : next + 1
      if (count < most) count++
      return true
    },
    /** When the one came that stands so many before the last, to the microsecond; `near` is within half an hour of it. */
    cameAt: (back: number, near: number): number =>
      near + ((word(placeOf(back) + 4) - (Math.round(near * 1000) >>> 0)) | 0) / 1000,
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
      next = 0
      count = 0
    }
  }
}
