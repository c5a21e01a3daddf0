import { type ChildProcess, spawn } from "node:child_process"
import { open, readFile, rename, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import type { Binaries } from "./Binaries.ts"
import type { Cluster } from "./Cluster.ts"
import * as LogFile from "./LogFile.ts"
import * as ProcessIdentity from "./ProcessIdentity.ts"
import * as RunAs from "./RunAs.ts"

/**
 * A Postgres server process that we started. Its times are the machine's, because a server process knows no test clock.
 */
export interface Postmaster {
  readonly child: ChildProcess
  /** The port, on 127.0.0.1 only. */
  readonly port: number
  readonly logFile: string
  /** Resolves once, when the process has ended or could not be started. */
  readonly exited: Promise<string>
}

const pollMs = 20
const fastStopMs = 15_000
const immediateStopMs = 5_000
const lookMs = 500

/** The lines of `postmaster.pid`: pid, data directory, start, port, socket directory, address, memory key, status. */
const lockFile = async (cluster: Cluster): Promise<ReadonlyArray<string>> => {
  try {
    return (await readFile(join(cluster.directory, "postmaster.pid"), "utf8")).split("\n")
  } catch {
    return []
  }
}

const until = async (done: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> => {
  for (const end = performance.now() + withinMs; performance.now() < end; await delay(pollMs))
    if (await done()) return true
  return done()
}

/**
 * Stops the server that a dead owner left running on this cluster; `false` when it would not stop.
 *
 * Only the owner of `DATA_DIR` may call it, because it treats any server found there as an orphan. It tries a fast
 * shutdown first (clients are cut off, a checkpoint is written), then an immediate one (the next start recovers). It
 * never sends SIGKILL, after which backends would continue to write.
 */
export const stopOrphan = async (cluster: Cluster): Promise<boolean> => {
  const [pidLine, directory = cluster.directory, ...rest] = await lockFile(cluster)
  const pid = Number(pidLine)
  if (pidLine === undefined || !Number.isInteger(pid) || pid <= 1) return true
  const orphan = await ProcessIdentity.find(pid)
  if (orphan === null) return true
  if (!orphan.command.includes(directory)) {
    // The pid belongs to another process by now. Postgres would take that one for a running server, but never its own
    // parent: with our pid in the file it continues and checks that no old backend holds the shared memory. Removing
    // the file would skip that check.
    await writeFile(join(cluster.directory, "postmaster.pid"), [process.pid, directory, ...rest].join("\n"))
    return true
  }
  const gone = async () => (await ProcessIdentity.find(pid))?.start !== orphan.start
  return (await signal(pid, "SIGINT", gone, fastStopMs)) || signal(pid, "SIGQUIT", gone, immediateStopMs)
}

const signal = async (pid: number, name: NodeJS.Signals, gone: () => Promise<boolean>, withinMs: number) => {
  try {
    process.kill(pid, name)
  } catch {
    return gone()
  }
  return until(gone, withinMs)
}

const freePort = (): Promise<number> =>
  new Promise((done, fail) => {
    const probe = createServer()
    probe.once("error", fail)
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() =>
        typeof address === "object" && address !== null ? done(address.port) : fail(new Error("no free port"))
      )
    })
  })

/**
 * fsync and full-page writes keep their safe defaults. Statement texts hold tenants' data and stay out of the log, and
 * so do the details of an error, which repeat rows. The temporary files of one statement are bounded, and the
 * write-ahead log takes at most about `max_wal_size`. A full disk refuses writes (SQLSTATE 53100), which is a temporary
 * outage; when even the write-ahead log finds no room, the server ends, and the service with it.
 */
const settings = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "max_connections=60",
  "timezone=UTC",
  "log_timezone=UTC",
  "log_checkpoints=off",
  "log_min_error_statement=panic",
  "log_error_verbosity=terse",
  "temp_file_limit=10GB",
  "max_wal_size=1GB"
]

/**
 * Starts the server and does not wait for it. It leads a separate session, so that Ctrl-C reaches only us. Null: it
 * gets a free port.
 */
export const launch = async (
  binaries: Binaries,
  runAs: RunAs.RunAs,
  cluster: Cluster,
  logFile: string,
  wantedPort: number | null
): Promise<Postmaster> => {
  const port = wantedPort ?? (await freePort())
  // Each start has a new log. The one of the previous start is kept, because it shows how that ended.
  await rename(logFile, LogFile.previous(logFile)).catch(() => undefined)
  const log = await open(logFile, "a", 0o600)
  try {
    const child = spawn(
      binaries.postgres,
      ["-D", cluster.directory, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])],
      {
        cwd: "/",
        detached: true,
        stdio: ["ignore", log.fd, log.fd],
        env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" },
        ...RunAs.spawnOptions(runAs)
      }
    )
    const exited = new Promise<string>((done) => {
      child.once("error", (error) => done(error.message))
      child.once("exit", (code, signal) => done(signal ?? `exit code ${code}`))
    })
    return { child, port, logFile, exited }
  } finally {
    await log.close()
  }
}

/** Waits until the server accepts connections, which the last line of its lock file reports. */
export const ready = async (
  postmaster: Postmaster,
  cluster: Cluster,
  withinMs: number,
  interrupted: AbortSignal
): Promise<"ready" | "exited" | "timeout"> => {
  const seen = { exited: false, up: false }
  void postmaster.exited.then(() => (seen.exited = true))
  await until(async () => {
    const lines = await lockFile(cluster)
    seen.up = lines[0] === String(postmaster.child.pid) && lines[7]?.trim() === "ready"
    return seen.up || seen.exited || interrupted.aborted
  }, withinMs)
  if (seen.exited) return "exited"
  return seen.up ? "ready" : "timeout"
}

const end = async ({ child, exited }: Postmaster, name: NodeJS.Signals, withinMs: number): Promise<void> => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  child.kill(name)
  const timer = new AbortController()
  await Promise.race([exited, delay(withinMs, undefined, { signal: timer.signal }).catch(() => undefined)])
  timer.abort()
}

/** Shuts down immediately: clients are cut off and nothing is written; the next start recovers. */
export const quit = (postmaster: Postmaster): Promise<void> => end(postmaster, "SIGQUIT", immediateStopMs)

/** Stops in order, by a fast shutdown; by an immediate one when that hangs. */
export const stop = async (postmaster: Postmaster): Promise<void> => {
  await end(postmaster, "SIGINT", fastStopMs)
  await quit(postmaster)
}

/**
 * Waits for the end of the server and gives the way in which it ended. A server that was asked to stop by another
 * process waits for its clients, which are ours and stay, so it is stopped fast.
 */
export const ended = async (postmaster: Postmaster, cluster: Cluster, given: AbortSignal): Promise<string> => {
  while (!given.aborted) {
    const how = await Promise.race([postmaster.exited, delay(lookMs, null)])
    if (how !== null) return how
    const lines = await lockFile(cluster)
    if (lines[0] === String(postmaster.child.pid) && lines[7]?.trim() === "stopping") postmaster.child.kill("SIGINT")
  }
  return "it is no longer watched"
}

/** Gives the end of the server's log, as one line of at most 400 characters. */
export const lastWords = async ({ logFile }: Postmaster): Promise<string> => {
  const text = await readFile(logFile, "utf8").catch(() => "")
  return text.trim().split("\n").slice(-4).join(" ").slice(-400)
}
