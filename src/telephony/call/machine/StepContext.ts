import type * as Machine from "../../../runtime/actor/Machine.ts"
import type { Activities } from "./Activities.ts"

/** The context of a step of a call: the time, randomness, and the table of verbs. */
export interface StepContext extends Machine.StepContext {
  readonly work: Activities
}
