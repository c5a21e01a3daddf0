import type { RtpPacket } from "./RtpPacket.ts"
import { next, timestampDistance } from "./SequenceNumber.ts"

/** How many packets back a duplicate is recognized; a power of two. */
const recentPackets = 128
/** How long the present source must be silent before another one replaces it. */
const sourceSilenceMs = 60

/** `doubtful`: dropped until a second one confirms it. `new`: it begins another stream, or another timeline. */
type Verdict = "present" | "new" | "doubtful" | "duplicate"

/**
 * Selects the packets of the stream that is played: one source, and timestamps within `jump` clock units of the present
 * one. Two packets in a row that belong elsewhere make their stream the present one.
 */
export const make = (jump: number) => {
  let ssrc = -1
  let heardAt = Number.NEGATIVE_INFINITY
  let candidate: Pick<RtpPacket, "ssrc" | "sequenceNumber" | "timestamp"> | null = null
  /** Sequence numbers seen lately, each in the slot of its low bits, to distinguish a duplicate from a late packet. */
  const seen = new Int32Array(recentPackets).fill(-1)

  const isNear = (one: number, other: number): boolean => Math.abs(timestampDistance(one, other)) <= jump

  const streamOf = (packet: RtpPacket, reference: number | null, now: number): Verdict => {
    if (ssrc === -1) return "new"
    if (packet.ssrc === ssrc && (reference === null || isNear(reference, packet.timestamp))) return "present"
    const confirmed =
      candidate !== null &&
      candidate.ssrc === packet.ssrc &&
      next(candidate.sequenceNumber) === packet.sequenceNumber &&
      isNear(candidate.timestamp, packet.timestamp)
    if (confirmed && (packet.ssrc === ssrc || now - heardAt >= sourceSilenceMs)) return "new"
    return "doubtful"
  }

  return {
    /** `reference` is a timestamp of the present stream; `null`: after a pause it may resume anywhere. */
    accept: (packet: RtpPacket, reference: number | null, now: number): Verdict => {
      const verdict = streamOf(packet, reference, now)
      const { sequenceNumber, timestamp } = packet
      if (verdict === "doubtful") {
        candidate = { ssrc: packet.ssrc, sequenceNumber, timestamp }
        return verdict
      }
      candidate = null
      heardAt = now
      if (verdict === "new") {
        ssrc = packet.ssrc
        seen.fill(-1)
      }
      const slot = sequenceNumber % recentPackets
      if (seen[slot] === sequenceNumber) return "duplicate"
      seen[slot] = sequenceNumber
      return verdict
    }
  }
}
