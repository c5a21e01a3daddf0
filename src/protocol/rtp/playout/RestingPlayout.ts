import { timestampDistance } from "../SequenceNumber.ts"

/** The length of a window of arrivals; the least of the last two windows counts. */
const windowMs = 1000
/** The least and the most time by which a packet should arrive before it is played. */
const leastLeadMs = 0
const mostLeadMs = 60
/** The lead after a correction. */
const wantedLeadMs = { afterTooLittle: 20, afterTooMuch: 40 }
/** How much more sound than the time that has passed may come: a network may hold packets back for a while. */
const mostBurstMs = 1000
/** A sender whose clock runs faster than ours by less than this never counts as a burst, however long it sends. */
const toleratedPace = 1.02

/** The playout point of a stream that nothing listens to: it advances by the clock, and adapts to the network. */
interface RestingPlayout {
  /** Begins the rest; `playout` is the timestamp that would be played now. */
  readonly start: (playout: number, now: number) => void
  /** Takes the arrival of a packet. False: it does not count, because more sound came than could be played. */
  readonly arrived: (timestamp: number, duration: number, now: number) => boolean
  /** The timestamp that would be played now. */
  readonly at: (now: number) => number
}

/**
 * The playout point advances by the time that passes. It is corrected only when it is read: if packets of the last
 * seconds came too late for it, or all of them much too early, because the sender's clock runs at another rate or the
 * network has changed. Timestamps are in units of `clockRate` and may wrap.
 */
export const make = (clockRate: number): RestingPlayout => {
  const unitsOf = (ms: number): number => Math.round((clockRate * ms) / 1000)
  const toleratedUnitsPerMs = (clockRate * toleratedPace) / 1000
  let began = 0
  let beganAt = 0
  let windowAt = 0
  let least = Number.POSITIVE_INFINITY
  let leastBefore = Number.POSITIVE_INFINITY
  /** The sound that came before its time, in clock units, at `burstAt`. */
  let burst = 0
  let burstAt = 0

  const byClock = (now: number): number => (began + unitsOf(now - beganAt)) >>> 0

  return {
    start: (playout, now) => {
      began = playout
      beganAt = now
      windowAt = now
      least = Number.POSITIVE_INFINITY
      leastBefore = Number.POSITIVE_INFINITY
      burst = 0
      burstAt = now
    },
    arrived: (timestamp, duration, now) => {
      // The fraction is not passed to a function, because V8 may allocate it for the call.
      burst = Math.max(0, burst - Math.round(toleratedUnitsPerMs * (now - burstAt)))
      burstAt = now
      if (burst + duration > unitsOf(mostBurstMs)) return false
      burst += duration
      if (now - windowAt > windowMs) {
        windowAt = now
        leastBefore = least
        least = Number.POSITIVE_INFINITY
      }
      const lead = timestampDistance(byClock(now), timestamp)
      if (lead < least) least = lead
      return true
    },
    at: (now) => {
      const lead = Math.min(least, leastBefore)
      if (lead < unitsOf(leastLeadMs)) return (byClock(now) + lead - unitsOf(wantedLeadMs.afterTooLittle)) >>> 0
      if (lead > unitsOf(mostLeadMs) && lead < Number.POSITIVE_INFINITY)
        return (byClock(now) + lead - unitsOf(wantedLeadMs.afterTooMuch)) >>> 0
      return byClock(now)
    }
  }
}
