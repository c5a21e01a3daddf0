import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"

/** The CPU time used since the start by this process and by its Postgres (NaN except on Linux), in microseconds. */
export interface CpuTime {
  readonly own: number
  readonly postgres: number
}

/** Clock ticks of /proc are hundredths of a second on every Linux that runs Node. */
const tickMicros = 10_000

const ofProcess = (pid: number): number => {
  try {
    // proc(5): the name is in parentheses and may hold any text; utime and stime are the 12th and 13th field after it.
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
