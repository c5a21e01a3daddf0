import type { Clock } from "effect"
import * as Monotonic from "../../domain/time/Monotonic.ts"

/**
 * The time in which an entity lives, in epoch milliseconds: what the wall clock showed when the entity began, plus what
 * has passed since then on the monotonic clock.
 *
 * So its moments are named by the wall clock, and the time between two of them has really passed, even when somebody
 * sets the wall clock by hours meanwhile. Across a restart it goes on with the time of its partition, which the journal
 * keeps.
 */
export interface EntityTime {
  /** How far it is ahead of its partition's time; this never changes. */
  readonly offsetMs: number
  /** How far it is ahead of this process's monotonic clock; null: it is the wall clock. */
  readonly aheadMs: number | null
}

/** For an entity that lived before. `originMs`: how far its partition's time is ahead of the monotonic clock. */
export const resume = (originMs: number, offsetMs: number): EntityTime => ({ offsetMs, aheadMs: originMs + offsetMs })

/** For an entity that begins now. */
export const begin = (clock: Clock.Clock, originMs: number): EntityTime =>
  resume(originMs, Math.round(wallIsAhead(clock) - originMs))

/** For entities that measure no durations. */
export const wall: EntityTime = { offsetMs: 0, aheadMs: null }

export const now = (time: EntityTime, clock: Clock.Clock): number =>
  time.aheadMs === null ? clock.currentTimeMillisUnsafe() : Math.round(Monotonic.read(clock) + time.aheadMs)

/** The moment `at` of the monotonic clock, in the entity's time. */
export const ofMonotonic = (time: EntityTime, clock: Clock.Clock, at: number): number =>
  Math.round(at + (time.aheadMs ?? wallIsAhead(clock)))

export const toMonotonic = (time: EntityTime, clock: Clock.Clock, at: number): number =>
  at - (time.aheadMs ?? wallIsAhead(clock))

const wallIsAhead = (clock: Clock.Clock): number => clock.currentTimeMillisUnsafe() - Monotonic.read(clock)
