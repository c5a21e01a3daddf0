import type { Quality } from "../../../media/plane/MediaPlane.ts"
import type { LegQuality } from "../../Carrier.ts"

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits))
const roundedOrNull = (value: number | null, digits: number): number | null =>
  value === null ? null : rounded(value, digits)

type Direction = Pick<Quality, "jitterMs" | "jitterMeanMs" | "jitterMaxMs" | "mos" | "bpl">

const scores = ({ bpl, jitterMaxMs, jitterMeanMs, jitterMs, mos }: Direction) => ({
  jitterMs: rounded(jitterMs, 1),
  jitterMeanMs: rounded(jitterMeanMs, 1),
  jitterMaxMs: rounded(jitterMaxMs, 1),
  mos: roundedOrNull(mos, 2),
  bpl
})

/** The sound quality of a leg for its end event; null when no packet was sent or received. */
export const of = (measured: Quality | null): LegQuality | null => {
  if (measured === null || measured.packetsReceived + measured.packetsSent === 0) return null
  const { codec, packetsLost, packetsReceived, packetsSent, reported, roundTripMs } = measured
  return {
    codec,
    inbound: { packets: packetsReceived, lost: packetsLost, ...scores(measured) },
    outbound: reported === null ? null : { packets: packetsSent, lost: reported.packetsLost, ...scores(reported) },
    roundTripMs: roundedOrNull(roundTripMs, 1)
  }
}
