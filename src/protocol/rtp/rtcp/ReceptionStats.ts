import { extend, next } from "../SequenceNumber.ts"

/** A jump forward by this many packets, or back by more than `maxMisorder`, may be a restarted sender: appendix A.1. */
const maxDropout = 3000
const maxMisorder = 100

/** Counters of one report period, for a report block; RFC 3550 appendix A.3. */
export interface Report {
  /** The share lost since the last report in units of 1/256; 0 to 255. */
  readonly fractionLost: number
  readonly cumulativeLost: number
  readonly extendedHighestSequence: number
  /** The jitter in media clock units. */
  readonly jitter: number
}

/** The packets received so far. `packetsLost` is never negative: a duplicate does not make up for a lost packet. */
export interface Totals {
  readonly packetsReceived: number
  readonly packetsLost: number
  /** The interarrival jitter after the last packet. */
  readonly jitterMs: number
  /** Its mean and its maximum over all packets that it was measured at, and how many those are. */
  readonly jitterMeanMs: number
  readonly jitterMaxMs: number
  readonly jitterSamples: number
}

/** The totals before any packet. */
export const none: Totals = {
  packetsReceived: 0,
  packetsLost: 0,
  jitterMs: 0,
  jitterMeanMs: 0,
  jitterMaxMs: 0,
  jitterSamples: 0
}

/** The totals of two sources, one after the other. */
export const joined = (before: Totals, present: Totals): Totals => {
  const jitterSamples = before.jitterSamples + present.jitterSamples
  const sum = before.jitterMeanMs * before.jitterSamples + present.jitterMeanMs * present.jitterSamples
  return {
    packetsReceived: before.packetsReceived + present.packetsReceived,
    packetsLost: before.packetsLost + present.packetsLost,
    jitterMs: present.jitterMs,
    jitterMeanMs: jitterSamples === 0 ? 0 : sum / jitterSamples,
    jitterMaxMs: Math.max(before.jitterMaxMs, present.jitterMaxMs),
    jitterSamples
  }
}

/**
 * Reception statistics of one synchronization source, RFC 3550 appendices A.1, A.3 and A.8.
 *
 * The probation of A.1 is left out, because signalling determines the sender.
 */
export type ReceptionStats = ReturnType<typeof make>

/** The places of the figures that change with every packet. */
const [transit, jitter, jitterSum, jitterMax] = [0, 1, 2, 3] as const

/** Makes empty statistics. `clockRate` is in Hz. */
export const make = (clockRate: number) => {
  let started = false
  /** Extended, like `highest`. */
  let base = 0
  let highest = 0
  let received = 0
  let badSequence = -1
  let expectedPrior = 0
  let receivedPrior = 0
  /** In an array, because V8 would allocate memory for each new fraction in a variable. */
  const figures = Float64Array.of(Number.NaN, 0, 0, 0)
  const figure = (at: 0 | 1 | 2 | 3): number => figures[at] ?? 0
  let samples = 0
  /** The totals of the runs before a restart of the sender. */
  let receivedBefore = 0
  let lostBefore = 0

  const expected = () => (started ? highest - base + 1 : 0)

  const restart = (sequenceNumber: number) => {
    receivedBefore += received
    lostBefore += Math.max(0, expected() - received)
    started = true
    base = sequenceNumber
    highest = sequenceNumber
    received = 0
    badSequence = -1
    expectedPrior = 0
    receivedPrior = 0
    figures[transit] = Number.NaN
  }

  /** Counts a sequence number, A.1 `update_seq`. */
  const count = (sequenceNumber: number): boolean => {
    if (!started) restart(sequenceNumber)
    const extended = extend(highest, sequenceNumber)
    const step = extended - highest
    if (step >= maxDropout || step <= -maxMisorder) {
      if (sequenceNumber !== badSequence) {
        badSequence = next(sequenceNumber)
        return false
      }
      // Two packets in a row after the jump mean that the sender started over without notice.
      restart(sequenceNumber)
    } else if (step > 0) highest = extended
    received++
    return true
  }

  return {
    /** Counts an audio packet. False: it is the first packet after a doubtful jump, and not counted. */
    receive(packet: { readonly sequenceNumber: number; readonly timestamp: number }, arrivedAtMs: number): boolean {
      if (!count(packet.sequenceNumber)) return false
      const now = (arrivedAtMs * clockRate) / 1000 - packet.timestamp
      const before = figure(transit)
      if (!Number.isNaN(before)) {
        const difference = now - before
        const whole = Math.floor(difference)
        // The shorter way round, because timestamps wrap.
        const d = Math.abs((whole | 0) + difference - whole)
        // A jump of the timestamp is not jitter of the network.
        if (d < clockRate * 10) {
          const estimate = figure(jitter) + (d - figure(jitter)) / 16
          figures[jitter] = estimate
          figures[jitterSum] = figure(jitterSum) + estimate
          if (estimate > figure(jitterMax)) figures[jitterMax] = estimate
          samples++
        }
      }
      figures[transit] = now
      return true
    },
    /** Counts a packet whose timestamp is not that of its departure (telephone-event, RFC 4733 section 2.5.1.2). */
    receiveEvent: count,
    /** Returns the figures for a report block; ends the report period. */
    report(): Report {
      const expectedNow = expected()
      const expectedInterval = expectedNow - expectedPrior
      const lostInterval = expectedInterval - (received - receivedPrior)
      expectedPrior = expectedNow
      receivedPrior = received
      return {
        fractionLost:
          expectedInterval <= 0 || lostInterval <= 0
            ? 0
            : Math.min(255, Math.floor((lostInterval * 256) / expectedInterval)),
        cumulativeLost: Math.max(-0x80_0000, Math.min(0x7f_ffff, expectedNow - received)),
        extendedHighestSequence: highest >>> 0,
        jitter: Math.floor(figure(jitter))
      }
    },
    totals(): Totals {
      return {
        packetsReceived: receivedBefore + received,
        packetsLost: lostBefore + Math.max(0, expected() - received),
        jitterMs: (figure(jitter) * 1000) / clockRate,
        jitterMeanMs: samples === 0 ? 0 : (figure(jitterSum) * 1000) / clockRate / samples,
        jitterMaxMs: (figure(jitterMax) * 1000) / clockRate,
        jitterSamples: samples
      }
    }
  }
}
