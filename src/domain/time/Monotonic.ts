import { Clock, Effect } from "effect"

/**
 * Elapsed time in milliseconds, by the monotonic clock.
 *
 * The wall clock names moments, and may be set forward or back by hours while the service runs. Durations, timeouts and
 * the age of values in memory are measured here. The origin is arbitrary: a reading means nothing to another process.
 */
export const read = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

export const now: Effect.Effect<number> = Clock.clockWith((clock) => Effect.succeed(read(clock)))
