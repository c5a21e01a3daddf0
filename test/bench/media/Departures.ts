import type { Departure } from "./Peers.ts"

const frameMs = 20
/** A packet that leaves a whole frame after its time is late. */
const lateMs = 20

/** The figures of the packets of one call that were sent within a time. */
export interface Figures {
  readonly packets: number
  /** The delay in milliseconds against the raster of 20 ms; the earliest packet of the time is on it. */
  readonly lateness: ReadonlyArray<number>
  /** The milliseconds from the arrival of a packet to the departure of the one that carries its sound. */
  readonly delays: ReadonlyArray<number>
  readonly missing: number
  readonly late: number
  /** The number of packets that do not carry the peer's next frame after that of the previous packet. */
  readonly altered: number
}

export const broken = ({ altered, late, missing }: Figures): number => missing + late + altered

/** The values of all calls in ascending order. */
export const sorted = (
  figures: ReadonlyArray<Figures>,
  of: (figures: Figures) => ReadonlyArray<number>
): Float64Array => Float64Array.from(figures.flatMap(of)).sort()

/** The figures of each call. */
export const figures = (departures: ReadonlyArray<Departure>): ReadonlyArray<Figures> =>
  [...Map.groupBy(departures, ({ call }) => call)].sort(([a], [b]) => a - b).map(([, packets]) => ofCall(packets))

const ofCall = (packets: ReadonlyArray<Departure>): Figures => {
  const first = packets[0]?.sequenceNumber ?? 0
  const numbers = packets.map(({ sequenceNumber }) => (sequenceNumber - first) & 0xffff)
  const places = packets.map(({ atMs }, index) => atMs - (numbers[index] ?? 0) * frameMs)
  const raster = Math.min(...places)
  const lateness = places.map((place) => place - raster)
  return {
    packets: packets.length,
    lateness,
    delays: packets.flatMap(({ atMs, carries }) => (carries === null ? [] : [atMs - carries.sentMs])),
    missing: Math.max(...numbers) + 1 - packets.length,
    late: lateness.filter((behind) => behind > lateMs).length,
    altered: packets.filter(({ carries }, index) => {
      const before = packets[index - 1]?.carries
      return index > 0 && (carries === null || (before && carries.number !== before.number + 1))
    }).length
  }
}
