import { describe, expect, it } from "@effect/vitest"
import * as RecentPackets from "../../../src/protocol/rtp/RecentPackets.ts"
import * as RtpSample from "./RtpSample.ts"

const first = { payloadType: 0, marker: false, sequenceNumber: 65_520, timestamp: 0xffff_fa00, ssrc: 0xdead_beef }

/** The packet `n` after the first, with this many octets of sound. */
const sample = (n: number, octets = 160): Uint8Array =>
  RtpSample.write({
    ...first,
    sequenceNumber: (first.sequenceNumber + n) & 0xffff,
    timestamp: (first.timestamp + 160 * n) >>> 0,
    payload: new Uint8Array(octets).fill(n)
  })

const numbers = (packets: ReadonlyArray<RecentPackets.Recent>) =>
  packets.map(({ sequenceNumber }) => (sequenceNumber - first.sequenceNumber) & 0xffff)

describe("The packets that came last", () => {
  it("are as many as are kept, whole, in the order of their timestamps, also across the ends of their numbers", () => {
    const recent = RecentPackets.make()
    const order = [1, 0, ...Array.from({ length: 40 }, (_, i) => i + 2)]
    for (const n of order) {
      const bytes = sample(n)
      expect(recent.add(bytes, 160, n)).toBe(true)
      bytes.fill(0x55)
    }
    const kept = recent.ordered()
    expect(numbers(kept)).toEqual(Array.from({ length: RecentPackets.most }, (_, i) => i + 10))
    expect(kept.map(({ bytes }) => bytes)).toEqual(Array.from({ length: RecentPackets.most }, (_, i) => sample(i + 10)))
    expect(kept.every(({ duration }) => duration === 160)).toBe(true)
    expect(numbers(recent.since((first.timestamp + 160 * 39) >>> 0))).toEqual([39, 40, 41])
    expect(numbers(recent.run(320))).toEqual([40, 41])
    recent.clear()
    expect(recent.ordered()).toEqual([])
  })

  it("stay when longer ones come, and those that no codec makes are not kept", () => {
    const recent = RecentPackets.make()
    for (let n = 0; n < 5; n++) recent.add(sample(n), 160, n)
    expect(recent.add(sample(5, RecentPackets.mostOctets), 160, 5)).toBe(false)
    expect(recent.add(sample(5, 1920), 160, 5)).toBe(true)
    expect(recent.ordered().map(({ bytes }) => bytes)).toEqual([
      ...[0, 1, 2, 3, 4].map((n) => sample(n)),
      sample(5, 1920)
    ])
  })

  it("tell when they came, to the microsecond, also across the end of the counter", () => {
    const recent = RecentPackets.make()
    // 2^32 microseconds are 71.6 minutes.
    const began = 2 ** 32 / 1000 - 30
    const came = (n: number) => began + 20 * n + n / 1000
    for (let n = 0; n < 4; n++) recent.add(sample(n), 160, came(n))
    for (let back = 0; back < 4; back++) expect(recent.cameAt(back, Math.floor(came(3)))).toBeCloseTo(came(3 - back), 2)
  })
})
