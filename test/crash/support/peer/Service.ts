import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import type { FreePorts } from "../../../support/network/FreePorts.ts"
import * as Patience from "../Patience.ts"
import type { SetWallClock, Throw } from "./WallClock.ts"

/** The service under test in a process of its own, so that kill -9 is a real one. */
export interface Service {
  readonly pid: number
  /** When the process was spawned, epoch milliseconds: restarts are measured from here. */
  readonly startedAt: number
  /**
   * Resolves when it serves; rejects, with its last output, when it ended before or took longer than three minutes of a
   * quiet machine.
   */
  readonly ready: Promise<void>
  /** How it ended: the signal, or the exit code. */
  readonly ended: Promise<string>
  /** From now on the process counts how often it passes its crash point. It has one. */
  readonly armCrashPoint: () => void
  /** Sets its wall clock to the true one plus so many milliseconds; time passes as before. */
  readonly setWallClock: (offsetMs: number) => void
  /** Sends the signal and waits for the end. */
  readonly kill: (signal: NodeJS.Signals) => Promise<string>
  /** Makes it throw an error that nothing catches, and waits for the end. */
  readonly throwUncaught: (message: string) => Promise<string>
  /** Closes the pipes that its log and its banner go to, as a reader does that ends. */
  readonly closeLog: () => void
  /** Its log at Error or above: each line is a fault of ours. */
  readonly faults: ReadonlyArray<string>
  /** How often it logged each message, of any level. */
  readonly messages: ReadonlyMap<string, number>
  /** The messages of level Warn. */
  readonly warnings: ReadonlySet<string>
}

export interface Options {
  readonly dataDir: string
  readonly ports: FreePorts
  /** Certificate authority of the receiver. */
  readonly caFile: string
  /** Absent: the embedded Postgres in `dataDir`. */
  readonly databaseUrl?: string
  /** A standby is ready when it has taken over; absent: three minutes. */
  readonly readyWithinMs?: number
  /** `<name>:<n>`: once it is armed, the process kills itself there (`app/boot/Crash.ts`). */
  readonly crashPoint?: string
  /** Absent: `Warn`. */
  readonly logLevel?: string
  /** Further variables of its environment. */
  readonly settings?: Readonly<Record<string, string>>
}

const root = new URL("../../../..", import.meta.url).pathname
const wallClock = new URL("WallClock.ts", import.meta.url).href
const startMs = 180_000

/** The configuration of the surrounding environment does not reach it. */
const environment = ({ caFile, crashPoint, databaseUrl, dataDir, logLevel = "Warn", ports, settings }: Options) => ({
  PATH: process.env["PATH"],
  DATA_DIR: dataDir,
  ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  ...(crashPoint === undefined ? {} : { CRASH_POINT: crashPoint }),
  HTTP_PORT: String(ports.http),
  OPERATOR_PORT: String(ports.operator),
  SIP_PORT: String(ports.sip),
  ALLOW_PRIVATE_TARGETS: "true",
  TARGET_CA_FILE: caFile,
  SIGNUP_LIMIT_PER_HOUR: "10000",
  DRAIN_SECS: "1",
  LOG_LEVEL: logLevel,
  LOG_FORMAT: "json",
  ...settings
})

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((done) => {
    child.once("error", (error) => done(error.message))
    child.once("exit", (code, signal) => done(signal ?? `exit code ${code}`))
  })

/** The words of a log line, without its fields. */
const messageOf = (line: string): string => {
  if (!line.startsWith("{")) return line
  const { message } = JSON.parse(line) as { readonly message: unknown }
  return String(Array.isArray(message) ? (message[0] ?? "") : message)
}

export const start = (options: Options): Service => {
  const startedAt = Date.now()
  const child = spawn(process.execPath, ["--import", wallClock, "src/main.ts"], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env: environment(options)
  })
  const { stderr, stdout } = child
  if (stderr === null || stdout === null) throw new Error("the service has no output")
  const ended = endOf(child)
  const faults: Array<string> = []
  const messages = new Map<string, number>()
  const warnings = new Set<string>()
  let lastWords = ""
  createInterface(stderr).on("line", (line) => {
    lastWords = `${lastWords}\n${line}`.slice(-4000)
    const message = messageOf(line)
    messages.set(message, (messages.get(message) ?? 0) + 1)
    if (/"level":"WARN/i.test(line)) warnings.add(message)
    if (/"level":"(?:ERROR|FATAL)"/i.test(line) || !line.startsWith("{")) faults.push(line)
  })
  const banner = new Promise<void>((done) => {
    createInterface(stdout).on("line", (line) => {
      if (/^Trunkline .* is up\.$/.test(line)) done()
    })
  })
  const started = async (): Promise<void> => {
    const first = Promise.race([banner.then(() => null), ended])
    const how = await Patience.race(first, options.readyWithinMs ?? startMs, "late")
    if (how === "late") throw new Error(`the service did not start in time: ${lastWords}`)
    if (how !== null) throw new Error(`the service ended before it served (${how}): ${lastWords}`)
  }
  const ready = started()
  // A test that never waits for the start need not handle its failure.
  ready.catch(() => undefined)
  return {
    pid: child.pid ?? 0,
    startedAt,
    ready,
    ended,
    faults,
    messages,
    warnings,
    setWallClock: (wallClockOffsetMs) => void child.send({ wallClockOffsetMs } satisfies SetWallClock),
    armCrashPoint: () => void child.kill("SIGUSR2"),
    throwUncaught: (throws) => {
      child.send({ throws } satisfies Throw)
      return ended
    },
    closeLog: () => {
      stderr.destroy()
      stdout.destroy()
    },
    kill: (signal) => {
      child.kill(signal)
      return ended
    }
  }
}
