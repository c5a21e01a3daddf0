import { constants, setPriority } from "node:os"
import type { Question } from "./Abuse.ts"
import * as Abuses from "./Abuses.ts"

/**
 * One tenant's abuse, in a process of its own; ends with its parent. A real abuser has cores of its own: this one takes
 * what is left of the service's, so that what is seen is what the service spends on it.
 */
setPriority(constants.priority.PRIORITY_LOW)
process.on("disconnect", () => process.exit(0))
process.once("message", (question) => {
  const { names, site } = question as Question
  void Promise.all(names.map((name) => Abuses.table[name](site))).then(() => process.send?.("begun"))
})
