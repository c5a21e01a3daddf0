import { readdirSync, readFileSync } from "node:fs"
import { niceness } from "../../../src/runtime/process/ThreadPriority.ts"

/** The time of this process's threads with raised priority (the media thread and its measure), since they began. */
export interface ThreadTime {
  readonly ranMs: number
  /** How long they could have run while others had the cores. */
  readonly waitedMs: number
}

const tasks = "/proc/self/task"
const read = (task: string, file: string): string => readFileSync(`${tasks}/${task}/${file}`, "utf8")

/** proc(5): the name is in parentheses and may hold any text; the niceness is the 17th field after it. */
const isRaised = (task: string): boolean =>
  Number(
    read(task, "stat")
      .replace(/^.*\) /s, "")
      .split(" ")[16]
  ) === niceness

const of = (task: string): ThreadTime => {
  try {
    if (!isRaised(task)) return { ranMs: 0, waitedMs: 0 }
    const [ran, waited] = read(task, "schedstat").split(" ")
    return { ranMs: Number(ran) / 1e6, waitedMs: Number(waited) / 1e6 }
  } catch {
    // The thread has ended meanwhile.
    return { ranMs: 0, waitedMs: 0 }
  }
}

/** NaN where the system does not report it: only Linux does. */
export const now = (): ThreadTime => {
  if (process.platform !== "linux") return { ranMs: NaN, waitedMs: NaN }
  return readdirSync(tasks)
    .map(of)
    .reduce((sum, each) => ({ ranMs: sum.ranMs + each.ranMs, waitedMs: sum.waitedMs + each.waitedMs }))
}
