import { Clock, Effect } from "effect"

/**
 * Time that has passed, in milliseconds, by the clock that nobody can set.
 *
 * The wall clock names moments, and somebody may set it forward or back by hours while the service runs. Durations,
 * timeouts and the age of what is kept in memory are measured here. The origin is arbitrary: a reading means nothing to
 * another process.
 */
export const read = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

export const now: Effect.Effect<number> = Clock.clockWith((clock) => Effect.succeed(read(clock)))
