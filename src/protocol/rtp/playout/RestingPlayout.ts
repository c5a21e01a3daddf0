import { timestampDistance } from "../SequenceNumber.ts"

/** Windows of arrivals; the least of the last two counts. */
const windowMs = 1000
/** A packet should be here by so much before it is played, at least and at most. */
const leastLeadMs = 0
const mostLeadMs = 60
/** What is aimed at where it was not. */
const wantedLeadMs = { afterTooLittle: 20, afterTooMuch: 40 }
/** So much more sound may have come than time has passed: what a network holds back and then lets go. */
const mostBurstMs = 1000
/** A sender's clock may run faster than ours by less than this, and is no burst however long it talks. */
const toleratedPace = 1.02

/** Where a stream is played whose sound nobody hears: it goes on by the clock, and follows what the network does. */
export interface RestingPlayout {
  /** From now on nobody hears it; `playout` is what would be played now. */
  readonly begin: (playout: number, now: number) => void
  /** A packet of the stream has come. False: it counts for nothing, since more sound came than anybody could hear. */
  readonly arrived: (timestamp: number, duration: number, now: number) => boolean
  /** What is played now. */
  readonly at: (now: number) => number
}

/**
 * The playout point goes on by as much as time passes. Nothing is moved meanwhile; when it is asked for, it is moved where
 * packets of the last seconds came too late for it, or all of them much too early: the sender's clock runs at another
 * pace, or the network has changed. Timestamps are in units of `clockRate` and may wrap.
 */
export const make = (clockRate: number): RestingPlayout => {
  const unitsOf = (ms: number): number => Math.round((clockRate * ms) / 1000)
  let began = 0
  let beganAt = 0
  let windowAt = 0
  let least = Number.POSITIVE_INFINITY
  let leastBefore = Number.POSITIVE_INFINITY
  /** Sound that came before its time, in clock units, as it was at `burstAt`. */
  let burst = 0
  let burstAt = 0

  const byClock = (now: number): number => (began + unitsOf(now - beganAt)) >>> 0

  return {
    begin: (playout, now) => {
      began = playout
      beganAt = now
      windowAt = now
      least = Number.POSITIVE_INFINITY
      leastBefore = Number.POSITIVE_INFINITY
      burst = 0
      burstAt = now
    },
    arrived: (timestamp, duration, now) => {
      burst = Math.max(0, burst - unitsOf((now - burstAt) * toleratedPace))
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
