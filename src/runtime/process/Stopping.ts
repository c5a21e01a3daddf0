import { Context, Effect } from "effect"

/**
 * Completes when the process has begun to stop: what else would be waited for without a bound (an outcome that only a
 * database which is away can tell) is given up then. In a test without one the process never stops.
 */
export const Stopping = Context.Reference<Effect.Effect<void>>("trunkline/actor/Stopping", {
  defaultValue: () => Effect.never
})
