import { Context } from "effect"

/**
 * Stops the process with a reason, when it cannot continue. `main.ts` gives the real one; a test without one continues.
 */
export const Fatal = Context.Reference<(reason: string) => void>("trunkline/actor/Fatal", {
  defaultValue: () => () => {}
})
