import type { Clock } from "effect"
import * as Monotonic from "../domain/Monotonic.ts"

/**
 * The time in which an entity lives, in epoch milliseconds: what the wall showed when it began, plus what has passed
 * since by the clock that nobody sets.
 *
 * So its moments are named by the wall, and what lies between two of them has really passed, though the wall be set by
 * hours meanwhile. Across a restart it goes on with the time of its partition, which the journal keeps.
 */
export interface EntityTime {
  /** What it is ahead of its partition's time, for good. */
  readonly offsetMs: number
  /** What it is ahead of the monotonic clock of this process; null: it is the wall's, wherever that is set. */
  readonly aheadMs: number | null
}

/** Of an entity that lived before. `originMs`: what its partition's time is ahead of the monotonic clock. */
export const resume = (originMs: number, offsetMs: number): EntityTime => ({ offsetMs, aheadMs: originMs + offsetMs })

/** Of an entity that begins now. */
export const begin = (clock: Clock.Clock, originMs: number): EntityTime =>
  resume(originMs, Math.round(wallIsAhead(clock) - originMs))

/** Of entities that measure nothing. */
export const wall: EntityTime = { offsetMs: 0, aheadMs: null }

export const now = (time: EntityTime, clock: Clock.Clock): number =>
  time.aheadMs === null ? clock.currentTimeMillisUnsafe() : Math.round(Monotonic.read(clock) + time.aheadMs)

/** A moment that was read off the monotonic clock, in the entity's time. */
export const ofMonotonic = (time: EntityTime, clock: Clock.Clock, at: number): number =>
  Math.round(at + (time.aheadMs ?? wallIsAhead(clock)))

export const toMonotonic = (time: EntityTime, clock: Clock.Clock, at: number): number =>
  at - (time.aheadMs ?? wallIsAhead(clock))

const wallIsAhead = (clock: Clock.Clock): number => clock.currentTimeMillisUnsafe() - Monotonic.read(clock)
