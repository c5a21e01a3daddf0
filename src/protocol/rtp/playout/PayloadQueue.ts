import type { PayloadDecoder } from "./PayloadDecoder.ts"
import type { RtpPacket } from "../RtpPacket.ts"
import { timestampDistance } from "../SequenceNumber.ts"

/** A payload that waits to be decoded. */
export interface Queued {
  readonly timestamp: number
  /** The duration in clock units. */
  readonly duration: number
  readonly decoder: PayloadDecoder
  readonly payload: Uint8Array
}

interface Slot extends Queued {
  timestamp: number
  duration: number
  decoder: PayloadDecoder
  /** The beginning of `storage`, or all of it. */
  payload: Uint8Array
  storage: Uint8Array
}

export interface Limits {
  /** The most payloads that wait; one more replaces the one farthest in the future, or is refused. */
  readonly maxPackets: number
  /** The most octets of a payload; a longer one is refused. */
  readonly maxOctets: number
}

export type Inserted = "queued" | "duplicate" | "overflow" | "queued_for_another"

/** The end of a payload's sound, in clock units; may wrap. */
export const endOf = ({ duration, timestamp }: Queued): number => timestamp + duration

const nothing = new Uint8Array(0)

/**
 * Payloads in the order of their timestamps. They are copied into memory that is reused: a packet allocates nothing
 * once the queue has had its greatest length.
 */
export const make = ({ maxOctets, maxPackets }: Limits) => {
  /** Oldest first. */
  const queue: Array<Slot> = []
  const spare: Array<Slot> = []

  const store = (packet: RtpPacket, decoder: PayloadDecoder, duration: number): Slot => {
    const { bytes, payloadEnd, payloadStart, timestamp } = packet
    const length = payloadEnd - payloadStart
    const slot = spare.pop() ?? { timestamp, duration, decoder, payload: nothing, storage: nothing }
    if (slot.storage.length < length) slot.storage = new Uint8Array(length)
    if (slot.payload.length !== length || slot.payload.buffer !== slot.storage.buffer)
      slot.payload = slot.storage.subarray(0, length)
    for (let i = 0; i < length; i++) slot.payload[i] = bytes[payloadStart + i] ?? 0
    slot.timestamp = timestamp
    slot.duration = duration
    slot.decoder = decoder
    return slot
  }

  /** Removes the oldest. */
  const shift = (): void => {
    const slot = queue.shift()
    if (slot !== undefined) spare.push(slot)
  }

  return {
    /** In order; read-only. */
    waiting: queue as ReadonlyArray<Queued>,
    insert: (packet: RtpPacket, decoder: PayloadDecoder, duration: number): Inserted => {
      if (packet.payloadEnd - packet.payloadStart > maxOctets) return "overflow"
      let at = queue.length
      for (; at > 0; at--) {
        const before = queue[at - 1]
        if (before === undefined) break
        const ahead = timestampDistance(before.timestamp, packet.timestamp)
        if (ahead === 0) return "duplicate"
        if (ahead > 0) break
      }
      const isFull = queue.length >= maxPackets
      if (isFull && at === queue.length) return "overflow"
      const farthest = isFull ? queue.pop() : undefined
      if (farthest !== undefined) spare.push(farthest)
      const slot = store(packet, decoder, duration)
      // `splice` would allocate an array of removed elements.
      if (at === queue.length) queue.push(slot)
      else queue.splice(at, 0, slot)
      return isFull ? "queued_for_another" : "queued"
    },
    shift,
    clear: (): void => {
      while (queue.length > 0) shift()
    }
  }
}
