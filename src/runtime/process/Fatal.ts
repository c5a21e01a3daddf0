import { Context } from "effect"

/**
 * Stops the process with a reason, for what nobody can go on without. `main.ts` gives the real one; a test without one
 * goes on.
 */
export const Fatal = Context.Reference<(reason: string) => void>("trunkline/actor/Fatal", {
  defaultValue: () => () => {}
})
