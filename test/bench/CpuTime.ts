import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"

/** CPU time used since the start, microseconds: this process, and the processes of its Postgres (NaN but on Linux). */
export interface CpuTime {
  readonly own: number
  readonly postgres: number
}

/** Clock ticks of /proc are hundredths of a second on every Linux that runs Node. */
const tickMicros = 10_000

const ofProcess = (pid: number): number => {
  try {
    // proc(5): the name stands in parentheses and may hold anything; utime and stime are the 12th and 13th after it.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
    return (Number(fields[11]) + Number(fields[12])) * tickMicros
  } catch {
    return process.platform === "linux" ? 0 : NaN
  }
}

export const read = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const backends = yield* Effect.orDie(sql<{ readonly pid: number }>`SELECT pid FROM pg_stat_activity`)
  const { system, user } = process.cpuUsage()
  return { own: user + system, postgres: backends.reduce((sum, { pid }) => sum + ofProcess(pid), 0) } satisfies CpuTime
})
