import { readFileSync, writeFileSync } from "node:fs"
import * as ThreadPriority from "../../../src/runtime/process/ThreadPriority.ts"

/** A process that raises its group and reports the result, and what the system says about the group. */
const read = (path: string) => readFileSync(path, "utf8")
const { pid, platform } = process
console.log(ThreadPriority.raiseGroup({ platform, pid, read, write: writeFileSync }))
console.log(read("/proc/self/autogroup").trim())
