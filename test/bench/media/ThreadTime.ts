import { readdirSync, readFileSync } from "node:fs"
import { niceness } from "../../../src/runtime/process/ThreadPriority.ts"

/** Time of the threads of this process whose priority is raised, since they began: the media thread, and its measure. */
export interface ThreadTime {
  readonly ranMs: number
  /** For so long they could have run, and others had the cores. */
  readonly waitedMs: number
}

const tasks = "/proc/self/task"
const read = (task: string, file: string): string => readFileSync(`${tasks}/${task}/${file}`, "utf8")

/** proc(5): the name stands in parentheses and may hold anything; the niceness is the 17th field after it. */
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
    // It has ended meanwhile.
    return { ranMs: 0, waitedMs: 0 }
  }
}

/** NaN where the system tells no such thing: only Linux does. */
export const now = (): ThreadTime => {
  if (process.platform !== "linux") return { ranMs: NaN, waitedMs: NaN }
  return readdirSync(tasks)
    .map(of)
    .reduce((sum, each) => ({ ranMs: sum.ranMs + each.ranMs, waitedMs: sum.waitedMs + each.waitedMs }))
}
