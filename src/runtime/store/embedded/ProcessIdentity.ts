import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { promisify } from "node:util"

/**
 * Identifies the process that has a process id right now. A bare pid is not an identity: it is reused after its process
 * ended, after a reboot, and in every restart of a container.
 */
export interface ProcessIdentity {
  /** An opaque text, equal only for one life of one process (boot and start time). */
  readonly start: string
  /** The arguments joined by spaces; empty where the platform does not report them. */
  readonly command: string
}

const missing = (cause: unknown) =>
  cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ESRCH")

const fromProc = async (pid: number): Promise<ProcessIdentity | null> => {
  try {
    const [stat, command, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, "utf8"),
      readFile(`/proc/${pid}/cmdline`, "utf8"),
      readFile("/proc/sys/kernel/random/boot_id", "utf8")
    ])
    // The name in parentheses may hold anything, so the fields are counted from its end: state is the first after it,
    // the start time in clock ticks since boot the twentieth (proc_pid_stat(5), fields 3 and 22).
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    // A zombie no longer runs. Where pid 1 does not reap its children, it stays in the table for ever.
    if (fields[0] === "Z" || fields[0] === "X") return null
    return { start: `${boot.trim()}-${fields[19]}`, command: command.replaceAll("\0", " ").trim() }
  } catch (cause) {
    if (missing(cause)) return null
    throw cause
  }
}

const fromPs = async (pid: number): Promise<ProcessIdentity | null> => {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "lstart=", "-o", "command=", "-p", String(pid)], {
      env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" }
    })
    // `lstart` is 24 characters wide: "Fri Nov 21 02:54:00 2025".
    return { start: stdout.slice(0, 24).trim(), command: stdout.slice(24).trim() }
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === 1) return null
    throw cause
  }
}

/** The process that holds `pid` now, or null when none runs. Reads `/proc` on Linux and asks `ps` elsewhere. */
export const find = (pid: number): Promise<ProcessIdentity | null> =>
  process.platform === "linux" ? fromProc(pid) : fromPs(pid)
