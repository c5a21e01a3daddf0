import * as Codecs from "../../audio/codec/Codecs.ts"
import * as EModel from "../../rtp/EModel.ts"
import type { Quality } from "../Protocol.ts"

/** What a leg knows of the stream that it receives, and of the path. */
export type Measured = Omit<Quality, "mos"> & {
  /** Sound that waits to be played. */
  readonly bufferMs: number
}

/** Sound that a packet holds, which is complete when the packet leaves. */
const packetMs = 20

/**
 * How the received stream sounds: what the network lost and what came too late, by the codec that was agreed. The delay
 * is half the round trip where the peer's reports tell it, and ours in any case.
 */
export const of = ({ bufferMs, ...measured }: Measured): Quality => {
  const { codec, packetsLate, packetsLost, packetsReceived, roundTripMs } = measured
  const expected = packetsReceived + packetsLost
  const loss = expected === 0 ? 0 : Math.min(1, (packetsLost + packetsLate) / expected)
  const oneWayDelayMs = (roundTripMs ?? 0) / 2 + bufferMs + packetMs
  const rating = EModel.rating(Codecs.table[codec].impairment, { oneWayDelayMs, loss })
  return { ...measured, mos: expected === 0 ? null : EModel.opinion(rating) }
}
