import { timestampDistance } from "../../../../src/protocol/rtp/SequenceNumber.ts"
import type { Departure } from "./Talk.ts"

const frameMs = 20
const unitsPerFrame = 160

/** What can be said of the packets that left for one member within a time. */
export interface Figures {
  readonly packets: number
  /** Milliseconds behind the raster of 20 ms; the earliest packet of the time is on it. */
  readonly lateness: ReadonlyArray<number>
  /** Packets that left and did not come. */
  readonly lost: number
  /** Frames for which no packet left: the sender stood still for longer than it makes up for. */
  readonly skipped: number
}

const ofMember = (packets: ReadonlyArray<Departure>): Figures => {
  const [first, last] = [packets[0], packets.at(-1)]
  if (first === undefined || last === undefined) return { packets: 0, lateness: [], lost: 0, skipped: 0 }
  /**
   * The timestamp tells for when a packet is, and not the sequence number: behind frames that were skipped the numbers go
   * on without a hole, and all packets to come would seem to be late.
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

/** By member. Packets of loopback come in the order in which they left. */
export const figures = (departures: ReadonlyArray<Departure>): ReadonlyArray<Figures> =>
  [...Map.groupBy(departures, ({ call }) => call).values()].map(ofMember)
