import { Context, Effect } from "effect"

/**
 * How long a statement waits for its answer, in milliseconds. Then its connection is given up, and the caller gets an
 * error for which `Outage.is` holds. The server ends a statement that still runs after `serverMs`.
 */
export const StatementLimit = Context.Reference<number>("trunkline/store/StatementLimit", {
  defaultValue: () => 10_000
})

/** The limit that the server itself enforces, for statements whose process has gone. */
export const serverMs = 60_000

/** Raises the limit for work that no caller waits for: sweeps, imports. */
export const unhurried = Effect.provideService(StatementLimit, serverMs)
