import type * as Machine from "../../../runtime/actor/Machine.ts"
import type { Work } from "./Work.ts"

/** What a step of a call may know: the time, randomness, and the table of verbs that it is played with. */
export interface StepContext extends Machine.StepContext {
  readonly work: Work
}
