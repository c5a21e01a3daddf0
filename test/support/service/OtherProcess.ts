import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { Effect } from "effect"

/** A second Node process running a fixture; killed with its scope when it still runs. */
export const start = Effect.fnUntraced(function* (file: string, args: ReadonlyArray<string>) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const exited = new Promise<number | null>((done) => child.once("exit", done))
  const firstLine = yield* Effect.promise(
    () =>
      new Promise<string>((done) =>
        createInterface(child.stdout)
          .once("line", done)
          .once("close", () => done(""))
      )
  )
  return {
    pid: child.pid ?? 0,
    firstLine,
    /** Sends the signal and waits for the end. */
    kill: (signal: NodeJS.Signals) =>
      Effect.promise(() => {
        child.kill(signal)
        return exited
      })
  }
})
