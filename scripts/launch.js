/**
 * Runs every npm script with the Node that this project brings: `node scripts/launch.js <file.ts | program>
 * [arguments]`.
 *
 * It is started by the Node that npm runs on (20 or later), so it is JavaScript and imports nothing but Node. It looks
 * for the Node itself, because npm 10 leaves `.bin/node` out when the package of another platform shares that name.
 * Its child finds the same Node, and the project's programs, first in its PATH.
 *
 * The child leads a session of its own, so that a signal reaches it once, from here, and reaches its own children with
 * it: a terminal sends Ctrl-C to npm and to this process, npm passes it on, and all that is one press. When npm has
 * died without a signal, the child gets SIGTERM; when this process has, the child sees it by its `disconnect`.
 */
import { spawn, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { constants } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

// Node would open a debugger at the first and end at the second, and its end is the end of the service.
for (const signal of /** @type {const} */ (["SIGUSR1", "SIGUSR2"])) process.on(signal, () => undefined)

const parent = process.ppid
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const neededMajor = 24
/** Signals that come within this time of one another are one request to stop. */
const sameRequestMs = 400
const parentCheckMs = 250

/** @type {(why: string) => never} */
const giveUp = (why) => {
  console.error(`trunkline: ${why}`)
  process.exit(1)
}

/** A binary of another libc or architecture may be installed and still not run here. */
const runs = (/** @type {string} */ node) => {
  const { status, stdout } = spawnSync(node, ["--version"], { encoding: "utf8" })
  return status === 0 && stdout.startsWith(`v${neededMajor}.`)
}

const packaged = () => {
  try {
    const name = `node-${process.platform}-${process.arch}`
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), "bin", "node")
  } catch {
    return undefined
  }
}

const findNode = () => {
  const brought = packaged()
  if (brought === process.execPath) return brought
  if (brought !== undefined && existsSync(brought) && runs(brought)) return brought
  if (Number.parseInt(process.versions.node, 10) >= neededMajor) return process.execPath
  return undefined
}

const [target, ...rest] = process.argv.slice(2)
if (target === undefined) giveUp("usage: node scripts/launch.js <file.ts | program> [arguments]")
const node = findNode()
if (node === undefined)
  giveUp(
    `Node ${neededMajor} is needed: none that runs on ${process.platform}-${process.arch} came with npm ci, and this is ` +
      `Node ${process.versions.node}; install Node ${neededMajor} and start again with it`
  )

const { PATH, npm_lifecycle_event: script } = process.env
const isFile = target.endsWith(".ts")
/** @type {import("node:child_process").StdioOptions} */
const stdio = isFile ? ["inherit", "inherit", "inherit", "ipc"] : "inherit"
const child = spawn(isFile ? node : target, isFile ? ["--disable-sigusr1", target, ...rest] : rest, {
  stdio,
  env: {
    ...process.env,
    PATH: [dirname(node), join(root, "node_modules", ".bin"), PATH].join(delimiter),
    NODE: node,
    npm_node_execpath: node
  },
  detached: true
})
child.once("error", (error) => giveUp(`${target} cannot be run: ${error.message}`))

/** To the child and to all that it started in its session. */
const tell = (/** @type {NodeJS.Signals} */ signal) => {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  } catch {
    // All of them have ended.
  }
}

let toldAt = -Infinity
const stop = (/** @type {NodeJS.Signals} */ signal) => {
  const now = performance.now()
  if (now - toldAt < sameRequestMs) return
  toldAt = now
  tell(signal)
}
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]))
  process.on(signal, () => stop(signal))

// Only npm is watched: a script that a shell started in the background outlives the shell.
if (script !== undefined)
  setInterval(() => {
    if (process.ppid !== parent && toldAt === -Infinity) stop("SIGTERM")
  }, parentCheckMs).unref()

child.once("exit", (code, signal) => {
  // A script that got a signal may end before its children.
  if (toldAt !== -Infinity) tell("SIGTERM")
  process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal])
})
