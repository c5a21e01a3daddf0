import type { Clock } from "effect"
import * as Monotonic from "../../domain/time/Monotonic.ts"

/**
 * The time in which an entity lives, in epoch milliseconds: what the wall clock showed when the entity began, plus the
 * time that has passed since then on the monotonic clock.
 *
 * So its moments have wall-clock names, and the time between two of them has really passed, even when the wall clock is
 * set meanwhile. After a restart it continues with the time of its partition, which the journal keeps.
 */
export interface EntityTime {
  /** How far it is ahead of its partition's time; this never changes. */
  readonly offsetMs: number
  /** How far it is ahead of this process's monotonic clock; null: the entity uses the wall clock. */
  readonly aheadMs: number | null
}

/**
 * The time of an entity that lived before. `originMs`: how far its partition's time is ahead of the monotonic clock.
 */
export const resume = (originMs: number, offsetMs: number): EntityTime => ({ offsetMs, aheadMs: originMs + offsetMs })

/** The time of an entity that begins now. */
export const start = (clock: Clock.Clock, originMs: number): EntityTime =>
  resume(originMs, Math.round(wallIsAhead(clock) - originMs))

/** The time of entities that measure no durations. */
export const wall: EntityTime = { offsetMs: 0, aheadMs: null }

export const now = (time: EntityTime, clock: Clock.Clock): number =>
  time.aheadMs === null ? clock.currentTimeMillisUnsafe() : Math.round(Monotonic.read(clock) + time.aheadMs)

/** The moment `at` of the monotonic clock, in the entity's time. */
export const ofMonotonic = (time: EntityTime, clock: Clock.Clock, at: number): number =>
  Math.round(at + (time.aheadMs ?? wallIsAhead(clock)))

export const toMonotonic = (time: EntityTime, clock: Clock.Clock, at: number): number =>
  at - (time.aheadMs ?? wallIsAhead(clock))

const wallIsAhead = (clock: Clock.Clock): number => clock.currentTimeMillisUnsafe() - Monotonic.read(clock)
