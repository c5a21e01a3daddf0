import type { Question } from "./Abuse.ts"
import * as Abuses from "./Abuses.ts"

/** One tenant's abuse, in a process of its own; ends with its parent. */
process.on("disconnect", () => process.exit(0))
process.once("message", (question) => {
  const { names, site } = question as Question
  void Promise.all(names.map((name) => Abuses.table[name](site))).then(() => process.send?.("begun"))
})
