/**
 * `npm test` runs every test, with the checks beside them; `npm test -- fast` runs the tests that touch nothing outside
 * of their process. Other arguments go to vitest (`npm test -- test/protocol/sip`). The last line is
 * `N passed, N failed`, where a check that fails counts as one.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { type Counts, print } from "../test/CountReporter.ts"

const isFast = process.argv[2] === "fast"
const given = process.argv.slice(isFast ? 3 : 2)

const check = async (): Promise<boolean> => {
  const child = spawn("node", ["scripts/check.ts"], { stdio: ["ignore", "pipe", "pipe"] })
  const [said, complained, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
  if (code !== 0) console.error(`${said}${complained}`)
  return code === 0
}

const test = async (): Promise<Counts> => {
  const args = ["run", "--config", "test/vitest.config.ts", ...(isFast ? ["--project", "pure"] : []), ...given]
  const child = spawn("vitest", args, { stdio: ["inherit", "inherit", "inherit", "ipc"] })
  let counts: Counts = { passed: 0, failed: 0, skipped: 0 }
  child.on("message", (message) => {
    // Only test/CountReporter.ts speaks on this channel.
    counts = message as Counts
  })
  const [code] = (await once(child, "close")) as [number | null]
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
}

// The children get the signal too, and this process waits for their end.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined)

const [isChecked, counts] = await Promise.all([check(), test()])
const failed = counts.failed + (isChecked ? 0 : 1)
print({ ...counts, failed })
process.exit(failed === 0 ? 0 : 1)
