import { spawnSync } from "node:child_process"

/**
 * A signal ends a process of the test runner at once, and the servers of Postgres that it has started with it. They
 * lead sessions of their own, so no signal of a terminal reaches them.
 */
const endServers = (): void => {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid=,comm="], { encoding: "utf8" })
  for (const line of stdout.split("\n")) {
    const [pid, parent, command] = line.trim().split(/\s+/)
    if (Number(parent) === process.pid && command?.endsWith("postgres") === true) process.kill(Number(pid), "SIGQUIT")
  }
}

const installed = Symbol.for("trunkline/test/EndsOnSignal")
// A process that several test files share runs this for each of them.
if (!(installed in process)) {
  Object.defineProperty(process, installed, { value: true })
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      endServers()
      // As if this had not been here: `once` has taken it away.
      process.kill(process.pid, signal)
    })
}
