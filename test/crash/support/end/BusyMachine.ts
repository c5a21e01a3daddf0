import { type ChildProcess, spawn } from "node:child_process"

/** Loops that keep the processors busy, as other services of the machine would. */
export interface BusyMachine {
  readonly calm: () => void
}

/**
 * Each loop has a session of its own. The kernel gives each session the same share of the processor, so loops in the
 * session of the service would take little from it.
 */
export const make = (loops: number): BusyMachine => {
  const children: ReadonlyArray<ChildProcess> = Array.from({ length: loops }, () =>
    spawn("sh", ["-c", "while :; do :; done"], { detached: true, stdio: "ignore" })
  )
  const calm = () => {
    process.off("exit", calm)
    for (const child of children) child.kill("SIGKILL")
  }
  process.on("exit", calm)
  return { calm }
}
