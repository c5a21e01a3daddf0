import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import { promisify } from "node:util"
import * as ProcessIdentity from "../../../src/runtime/store/embedded/ProcessIdentity.ts"
import * as FreePorts from "../network/FreePorts.ts"

/** A service that was started by `npm start`, with all the processes that this brings. */
export interface NpmStart {
  readonly api: string
  /** Resolves when the service serves; rejects with the output when npm ended before. */
  readonly ready: Promise<void>
  /** Signals the npm process only. */
  readonly signal: (name: NodeJS.Signals) => void
  /** The processes that npm has started by now, directly or not, npm first. */
  readonly processes: () => Promise<ReadonlyArray<Started>>
  /** The output so far. */
  readonly said: () => string
}

export interface Started {
  readonly pid: number
  readonly start: string
  readonly command: string
}

interface Options {
  /** The npm to run: a program and its first arguments. */
  readonly npm: readonly [string, ...ReadonlyArray<string>]
  readonly folder: string
  readonly dataDir: string
  readonly ports: FreePorts.FreePorts
  readonly environment?: Readonly<Record<string, string>>
}

const startMs = 180_000

/** Starts the service with the embedded Postgres, and without the configuration of the surrounding environment. */
export const start = ({ npm: [program, ...args], folder, dataDir, ports, environment }: Options): NpmStart => {
  const child = spawn(program, [...args, "start"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      DATA_DIR: dataDir,
      HTTP_PORT: String(ports.http),
      OPERATOR_PORT: String(ports.operator),
      SIP_PORT: String(ports.sip),
      ...environment
    }
  })
  let said = ""
  let up: () => void = () => undefined
  const banner = new Promise<void>((done) => (up = done))
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text
      if (said.includes(" is up.")) up()
    })
  const failed = once(child, "exit").then(() => {
    throw new Error(`npm start ended before the service was up: ${said}`)
  })
  failed.catch(() => undefined)
  const late = delay(startMs, undefined, { ref: false }).then(() => {
    throw new Error(`npm start took longer than ${startMs} ms: ${said}`)
  })
  late.catch(() => undefined)
  return {
    api: `http://127.0.0.1:${ports.http}`,
    ready: Promise.race([banner, failed, late]),
    signal: (name) => void child.kill(name),
    processes: () => (child.pid === undefined ? Promise.resolve([]) : family(child.pid)),
    said: () => said
  }
}

/** A process, with all that it has started, directly or not. */
export const family = async (ancestor: number): Promise<ReadonlyArray<Started>> => {
  const { stdout } = await promisify(execFile)("ps", ["-e", "-o", "pid=", "-o", "ppid="])
  const table = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
  const pids = [ancestor]
  for (const pid of pids)
    for (const [child, parent] of table) if (child !== undefined && parent === pid) pids.push(child)
  const found = await Promise.all(pids.map(async (pid) => ({ pid, identity: await ProcessIdentity.find(pid) })))
  return found.flatMap(({ pid, identity }) => (identity === null ? [] : [{ pid, ...identity }]))
}

/** The processes of `processes` that still run when all have ended or `withinMs` is over. */
export const remaining = async (
  processes: ReadonlyArray<Started>,
  withinMs: number
): Promise<ReadonlyArray<Started>> => {
  for (const limit = performance.now() + withinMs; ; await delay(50)) {
    const now = await Promise.all(processes.map(({ pid }) => ProcessIdentity.find(pid)))
    const left = processes.filter(({ start }, index) => now[index]?.start === start)
    if (left.length === 0 || performance.now() > limit) return left
  }
}

/** Whether this TCP port of loopback has a listener. */
export const isBound = async (port: number): Promise<boolean> => {
  const server = createServer()
  try {
    await new Promise<void>((done, fail) => server.once("error", fail).listen(port, "127.0.0.1", done))
    return false
  } catch {
    return true
  } finally {
    server.close()
  }
}

/** Ends what a failed test left running. */
export const killAll = async (processes: ReadonlyArray<Started>): Promise<void> => {
  for (const { pid } of await remaining(processes, 0)) process.kill(pid, "SIGKILL")
}
