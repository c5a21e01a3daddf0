import { timestampDistance } from "../../../../src/protocol/rtp/SequenceNumber.ts"
import type { Departure } from "./Talk.ts"

const frameMs = 20
const unitsPerFrame = 160

/** The figures of the packets that were sent to one member within a time. */
export interface Figures {
  readonly packets: number
  /** The delay in milliseconds against the raster of 20 ms; the earliest packet of the time is on it. */
  readonly lateness: ReadonlyArray<number>
  /** The number of packets that were sent and did not arrive. */
  readonly lost: number
  /** The number of frames without a packet: the sender stalled for longer than it makes up for. */
  readonly skipped: number
}

const ofMember = (packets: ReadonlyArray<Departure>): Figures => {
  const [first, last] = [packets[0], packets.at(-1)]
  if (first === undefined || last === undefined) return { packets: 0, lateness: [], lost: 0, skipped: 0 }
  /**
   * The timestamp shows the time of a packet, and the sequence number does not: after skipped frames the numbers
   * continue without a gap, and all later packets would seem to be late.
   */
  const frameOf = ({ timestamp }: Departure) => timestampDistance(first.timestamp, timestamp) / unitsPerFrame
  const places = packets.map((packet) => packet.atMs - frameOf(packet) * frameMs)
  const raster = Math.min(...places)
  const sent = ((last.sequenceNumber - first.sequenceNumber) & 0xffff) + 1
  return {
    packets: packets.length,
    lateness: places.map((place) => place - raster),
    lost: sent - packets.length,
    skipped: frameOf(last) + 1 - sent
  }
}

/** The figures of each member. Packets on loopback arrive in the order in which they were sent. */
export const figures = (departures: ReadonlyArray<Departure>): ReadonlyArray<Figures> =>
  [...Map.groupBy(departures, ({ call }) => call).values()].map(ofMember)
