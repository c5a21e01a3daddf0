import { Layer } from "effect"
import { CrashPoint, type Point, points } from "../../runtime/process/CrashPoint.ts"

/**
 * Arms one crash point, for the crash tests: `CRASH_POINT=after_commit:40` kills this process, as kill -9 would, when
 * it reaches that point for the fortieth time after a SIGUSR2, so that a recovery before the load does not count.
 * Without the variable the points do nothing.
 */
export const layer = (spec: string | undefined) => {
  const [name, count] = (spec ?? "").split(":")
  const armed = points.find((point) => point === name)
  if (armed === undefined) return Layer.empty
  let left = Number.POSITIVE_INFINITY
  process.once("SIGUSR2", () => {
    left = Number(count ?? 1)
  })
  return Layer.succeed(CrashPoint, (point: Point) => {
    if (point === armed && --left <= 0) process.kill(process.pid, "SIGKILL")
  })
}
