/**
 * `npm test`: the checks, then every test; arguments go to vitest (`npm test -- test/protocol/sip`). Ends with `N
 * passed, N failed`.
 */
import { spawnSync } from "node:child_process"

const run = (command: string, args: ReadonlyArray<string>) => spawnSync(command, args, { stdio: "inherit" }).status ?? 1

const checked = run("node", ["scripts/check.ts"])
if (checked !== 0) {
  console.log("0 passed, 1 failed")
  process.exit(checked)
}
process.exit(run("vitest", ["run", "--config", "test/vitest.config.ts", ...process.argv.slice(2)]))
