import * as Codecs from "../../protocol/audio/codec/Codecs.ts"
import * as EModel from "../../protocol/rtp/EModel.ts"
import type { Quality } from "../plane/Protocol.ts"

/** What a leg knows of the stream that it receives, and of the path. */
export type Measured = Omit<Quality, "mos" | "reported"> & {
  readonly reported: Omit<NonNullable<Quality["reported"]>, "mos"> | null
  /** Sound that waits to be played. */
  readonly bufferMs: number
}

/** Sound that a packet holds, which is complete when the packet leaves. */
const packetMs = 20

/** The share of the packets that were not heard. */
const share = (unheard: number, packets: number): number => Math.min(1, unheard / packets)

/**
 * How the streams sound: the received one by what the network lost and what came too late, the sent one by what the peer
 * reports, both by the codec that was agreed. The delay is half the round trip where the peer's reports tell it, and
 * ours in any case: of a peer's buffer nothing is known.
 */
export const of = ({ bufferMs, reported, ...measured }: Measured): Quality => {
  const { codec, packetsLate, packetsLost, packetsReceived, packetsSent, roundTripMs } = measured
  const expected = packetsReceived + packetsLost
  const oneWayDelayMs = (roundTripMs ?? 0) / 2 + bufferMs + packetMs
  const opinion = (loss: number): number =>
    EModel.opinion(EModel.rating(Codecs.table[codec].impairment, { oneWayDelayMs, loss }))
  return {
    ...measured,
    mos: expected === 0 ? null : opinion(share(packetsLost + packetsLate, expected)),
    reported:
      reported === null
        ? null
        : { ...reported, mos: packetsSent === 0 ? null : opinion(share(reported.packetsLost, packetsSent)) }
  }
}
