/**
 * `npm run fresh`: the two commands of the README in a fresh copy of the project, with each npm that they must work
 * with and the Node that npm runs on, not ours. For each: `npm ci`, `npm start`, a request, then the end of npm by
 * SIGTERM and by SIGKILL, after which no process may be left. Ends with `N passed, N failed`; other versions may be
 * given.
 */
import { execFileSync } from "node:child_process"
import { chmod, cp, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import * as FreePorts from "../test/support/network/FreePorts.ts"
import * as NpmStart from "../test/support/service/NpmStart.ts"

const root = new URL("..", import.meta.url).pathname
const given = process.argv.slice(2)
// 10.8.2 is what Node 20 ships.
const versions = given.length > 0 ? given : ["10.8.2", "11"]
const endMs = 20_000

/** The PATH without the folders that this project and the npm that runs this have put first. */
const outsidePath = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((entry) => !entry.includes("node_modules"))
  .join(delimiter)
/** Variables about this project that the npm that runs this has set. */
const ofThisRun = /^npm_(?!config_)|^npm_config_(local|global)_prefix$|^(NODE|INIT_CWD)$/
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofThisRun.test(name))),
  PATH: outsidePath
}

const npm = (cli: string, folder: string, ...args: ReadonlyArray<string>) =>
  execFileSync("node", [cli, ...args], { cwd: folder, env: environment, stdio: ["ignore", "ignore", "inherit"] })

/** The files of a clone, and those that are not committed yet. */
const copyOfProject = async (folder: string): Promise<void> => {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root })
  const files = new Set(listed.toString().split("\0").filter(Boolean))
  for (const file of files) await cp(join(root, file), join(folder, file))
}

const startAndEnd = async (cli: string, folder: string, signal: NodeJS.Signals): Promise<void> => {
  const ports = await FreePorts.find()
  const service = NpmStart.start({
    npm: ["node", cli],
    folder,
    dataDir: join(folder, "data"),
    ports,
    environment: { PATH: outsidePath }
  })
  let processes: ReadonlyArray<NpmStart.Started> = []
  try {
    await service.ready
    processes = await service.processes()
    const { status } = await fetch(`${service.api}/v1/calls`)
    if (status !== 401) throw new Error(`the API answered ${status}`)
    service.signal(signal)
    const left = await NpmStart.remaining(processes, endMs)
    if (left.length > 0)
      throw new Error(`after ${signal} to npm these go on: ${left.map(({ command }) => command).join("; ")}`)
    for (const port of [ports.http, ports.operator])
      if (await NpmStart.isBound(port)) throw new Error(`after ${signal} to npm port ${port} is still taken`)
  } finally {
    await NpmStart.killAll(processes.length > 0 ? processes : await service.processes())
  }
}

const attempt = async (version: string, folder: string): Promise<void> => {
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--prefix", join(folder, "npm"), `npm@${version}`], {
    env: environment,
    stdio: ["ignore", "ignore", "inherit"]
  })
  const cli = join(folder, "npm/node_modules/npm/bin/npm-cli.js")
  const copy = join(folder, "copy")
  await copyOfProject(copy)
  npm(cli, copy, "ci", "--prefer-offline", "--loglevel=error")
  for (const signal of ["SIGTERM", "SIGKILL"] as const) await startAndEnd(cli, copy, signal)
}

let passed = 0
let failed = 0
for (const version of versions) {
  const folder = await mkdtemp(join(tmpdir(), "trunkline-fresh-"))
  // As root the embedded Postgres belongs to another user.
  await chmod(folder, 0o711)
  const startedAt = performance.now()
  try {
    await attempt(version, folder)
    passed++
    console.log(`ok   npm ${version}: npm ci && npm start, ${Math.round((performance.now() - startedAt) / 1000)} s`)
  } catch (cause) {
    failed++
    console.log(`FAIL npm ${version}: ${cause instanceof Error ? cause.message : String(cause)}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
