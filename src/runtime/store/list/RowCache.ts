import { Cache, Duration, type Effect, Exit } from "effect"

/**
 * Keeps rows in memory until they are invalidated: at most `capacity`; beyond that the least recently used one is
 * dropped.
 *
 * Only rows that were read are kept. A `Cache` also keeps failures, for just as long: a lookup that met an unreachable
 * database would fail until the process ends.
 */
export const make = <Key, Row, R>(options: {
  readonly capacity: number
  readonly lookup: (key: Key) => Effect.Effect<Row, never, R>
}): Effect.Effect<Cache.Cache<Key, Row>, never, R> =>
  Cache.makeWith(options.lookup, {
    capacity: options.capacity,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero)
  })
