import { describe, expect, it } from "@effect/vitest"
import * as ReceptionStats from "../../../../src/protocol/rtp/rtcp/ReceptionStats.ts"
import * as SequenceNumber from "../../../../src/protocol/rtp/SequenceNumber.ts"

/** Feeds sequence numbers as packets of 20 ms that arrive on time. */
const feed = (stats: ReceptionStats.ReceptionStats, numbers: ReadonlyArray<number>) => {
  for (const n of numbers) stats.receive({ sequenceNumber: n & 0xffff, timestamp: (n * 160) >>> 0 }, n * 20)
}
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

describe("Sequence numbers, RFC 3550 section 5.1", () => {
  it.each([
    [0, 1, 1],
    [65_535, 0, 1],
    [0, 65_535, -1],
    [100, 50, -50],
    [0, 32_768, -32_768]
  ])("from %i to %i are %i steps", (from, to, steps) => expect(SequenceNumber.distance(from, to)).toBe(steps))
  it("are extended over the wrap, forward and back", () => {
    expect(SequenceNumber.extend(65_530, 3)).toBe(65_539)
    expect(SequenceNumber.extend(65_539, 65_530)).toBe(65_530)
    expect(SequenceNumber.next(65_535)).toBe(0)
  })
  it("timestamps wrap at 2^32", () => expect(SequenceNumber.timestampDistance(0xffff_ff60, 0)).toBe(160))
})

describe("Reception statistics, RFC 3550 appendix A", () => {
  it("loses nothing over a wrap and out of order", () => {
    const stats = ReceptionStats.make(8000)
    feed(stats, [65_533, 65_535, 65_534, 65_536, 65_538, 65_537])
    expect(stats.report()).toStrictEqual({
      fractionLost: 0,
      cumulativeLost: 0,
      extendedHighestSequence: 65_538,
      jitter: stats.report().jitter
    })
  })

  it("counts a quarter lost in the interval and everything lost in all", () => {
    const stats = ReceptionStats.make(8000)
    feed(stats, range(0, 100))
    expect(stats.report().fractionLost).toBe(0)
    feed(
      stats,
      range(100, 200).filter((n) => n % 4 !== 1)
    )
    const report = stats.report()
    expect(report.fractionLost).toBe(64)
    expect(report.cumulativeLost).toBe(25)
    expect(stats.totals().packetsLost).toBe(25)
  })

  it("reports nothing lost when nothing was expected", () => {
    const stats = ReceptionStats.make(8000)
    expect(stats.report()).toStrictEqual({
      fractionLost: 0,
      cumulativeLost: 0,
      extendedHighestSequence: 0,
      jitter: 0
    })
    feed(stats, [7])
    stats.report()
    expect(stats.report().fractionLost).toBe(0)
  })

  it("lets duplicates make the cumulative figure negative, not the total", () => {
    const stats = ReceptionStats.make(8000)
    feed(stats, [1, 1, 1, 2])
    expect(stats.report().cumulativeLost).toBe(-2)
    expect(stats.totals().packetsLost).toBe(0)
  })

  it("follows a sender that starts over only at the second packet in a row", () => {
    const stats = ReceptionStats.make(8000)
    feed(stats, range(0, 10))
    expect(stats.receive({ sequenceNumber: 30_000, timestamp: 0 }, 0)).toBe(false)
    expect(stats.receive({ sequenceNumber: 30_001, timestamp: 160 }, 20)).toBe(true)
    expect(stats.totals()).toMatchObject({ packetsReceived: 11, packetsLost: 0 })
    expect(stats.report().extendedHighestSequence).toBe(30_001)
  })

  it("measures the jitter of appendix A.8: alternating 10 ms early and late tends to 20 ms", () => {
    const stats = ReceptionStats.make(8000)
    // Timestamps pass 2^32 on the way.
    for (let n = 0; n < 400; n++)
      stats.receive({ sequenceNumber: n, timestamp: (0xffff_f000 + n * 160) >>> 0 }, n * 20 + (n % 2 === 0 ? 10 : -10))
    expect(stats.totals().jitterMs).closeTo(20, 0.1)
  })

  it("keeps the mean and the maximum of the jitter, which the last value does not show", () => {
    const stats = ReceptionStats.make(8000)
    const send = (from: number, count: number, jitterMs: number) => {
      for (let n = from; n < from + count; n++)
        stats.receive({ sequenceNumber: n, timestamp: n * 160 }, n * 20 + (n % 2 === 0 ? jitterMs : -jitterMs))
    }
    send(0, 500, 0)
    send(500, 200, 10)
    send(700, 1300, 0)
    const { jitterMaxMs, jitterMeanMs, jitterMs, jitterSamples } = stats.totals()
    expect(jitterMs).toBeCloseTo(0, 2)
    expect(jitterMaxMs).toBeCloseTo(20, 1)
    // A tenth of the packets came 20 ms apart from the one before.
    expect(jitterMeanMs).toBeCloseTo(2, 1)
    expect(jitterSamples).toBe(1999)
  })

  it("joins the totals of two sources: the mean by their packets, the last value of the second", () => {
    const one = {
      packetsReceived: 101,
      packetsLost: 1,
      jitterMs: 9,
      jitterMeanMs: 4,
      jitterMaxMs: 12,
      jitterSamples: 100
    }
    const other = {
      packetsReceived: 301,
      packetsLost: 2,
      jitterMs: 1,
      jitterMeanMs: 2,
      jitterMaxMs: 5,
      jitterSamples: 300
    }
    expect(ReceptionStats.joined(one, other)).toEqual({
      packetsReceived: 402,
      packetsLost: 3,
      jitterMs: 1,
      jitterMeanMs: 2.5,
      jitterMaxMs: 12,
      jitterSamples: 400
    })
    expect(ReceptionStats.joined(ReceptionStats.none, ReceptionStats.none)).toEqual(ReceptionStats.none)
  })

  it("takes no jitter from a jump of the timestamp, nor from packets of an event", () => {
    const stats = ReceptionStats.make(8000)
    feed(stats, range(0, 50))
    stats.receive({ sequenceNumber: 50, timestamp: 50 * 160 + 1_000_000 }, 1000)
    for (let n = 51; n < 60; n++) stats.receiveEvent(n)
    expect(stats.totals().jitterMs).toBe(0)
    expect(stats.totals().packetsReceived).toBe(60)
  })
})
