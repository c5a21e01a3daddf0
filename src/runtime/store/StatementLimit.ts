import { Context, Effect } from "effect"

/**
 * How long a statement waits for its answer, in milliseconds. Then its connection is given up, and whoever asked gets an
 * error that `Outage.is` knows. The server ends what still runs after `serverMs`.
 */
export const StatementLimit = Context.Reference<number>("trunkline/store/StatementLimit", {
  defaultValue: () => 10_000
})

/** The limit that the server keeps by itself, for statements whose process has gone. */
export const serverMs = 60_000

/** For work that nobody waits for: sweeps, imports. */
export const unhurried = Effect.provideService(StatementLimit, serverMs)
