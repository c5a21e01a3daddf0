import { Context, Effect } from "effect"

/**
 * Completes when the process has begun to stop. Waits that have no bound of their own (for an outcome that only an
 * unreachable database knows) are given up then. In a test without one the process never stops.
 */
export const Stopping = Context.Reference<Effect.Effect<void>>("trunkline/actor/Stopping", {
  defaultValue: () => Effect.never
})
