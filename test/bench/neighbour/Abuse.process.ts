import { constants, setPriority } from "node:os"
import type { Question } from "./Abuse.ts"
import * as Abuses from "./Abuses.ts"

/**
 * The abuse by one tenant, in a separate process; ends with its parent. A real abuser has cores of its own. This one
 * gets the time that the service leaves, so that the measured time is the time that the service spends on it.
 */
setPriority(constants.priority.PRIORITY_LOW)
process.on("disconnect", () => process.exit(0))
process.once("message", (question) => {
  const { names, site } = question as Question
  void Promise.all(names.map((name) => Abuses.table[name](site))).then(() => process.send?.("begun"))
})
