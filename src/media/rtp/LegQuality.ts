import * as Codecs from "../../protocol/audio/codec/Codecs.ts"
import * as EModel from "../../protocol/rtp/EModel.ts"
import type { Quality } from "../plane/Protocol.ts"

/** The measurements of a leg, of the stream that it receives and of the path. */
export type Measured = Omit<Quality, "mos" | "bpl" | "reported"> & {
  readonly reported: Omit<NonNullable<Quality["reported"]>, "mos" | "bpl"> | null
  /** The sound in the jitter buffer. */
  readonly bufferMs: number
}

/** The sound in a packet, which has to be complete before the packet leaves. */
const packetMs = 20

/** The share of packets that were not heard. */
const share = (unheard: number, packets: number): number => Math.min(1, unheard / packets)

/**
 * Rates both streams: the received one by the packets that were lost or late, the sent one by the peer's reports, both
 * by the agreed codec with the concealment that its decoder has here. No report says how the peer conceals losses, so
 * it is assumed to do as well: nearly all phones and gateways do. The delay is half the round trip, if the peer's
 * reports give it, plus our own delay; the peer's buffer is unknown.
 */
export const of = ({ bufferMs, reported, ...measured }: Measured): Quality => {
  const { codec, packetsLate, packetsLost, packetsReceived, packetsSent, roundTripMs } = measured
  const expected = packetsReceived + packetsLost
  const oneWayDelayMs = (roundTripMs ?? 0) / 2 + bufferMs + packetMs
  const { impairment } = Codecs.table[codec]
  const { bpl } = impairment
  const opinion = (loss: number): number => EModel.opinion(EModel.rating(impairment, { oneWayDelayMs, loss }))
  return {
    ...measured,
    mos: packetsReceived === 0 ? null : opinion(share(packetsLost + packetsLate, expected)),
    bpl,
    reported:
      reported === null
        ? null
        : { ...reported, bpl, mos: packetsSent === 0 ? null : opinion(share(reported.packetsLost, packetsSent)) }
  }
}
