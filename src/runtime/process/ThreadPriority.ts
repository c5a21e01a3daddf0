/** The part of the system that `raise` needs; `setPriority` as in `node:os`. */
interface System {
  readonly platform: NodeJS.Platform
  readonly setPriority: (id: number, niceness: number) => void
}

/** `PRIORITY_HIGH` of `node:os`. */
export const niceness = -14

/**
 * Raises the priority of the calling thread where the system lets it, so that packets leave in time beside other work.
 * Returns the outcome in words, for the log; never throws.
 *
 * Only on Linux does each thread have a priority of its own, and the id 0 mean the calling thread (setpriority(2),
 * under "C library/kernel differences"). It needs CAP_SYS_NICE or a limit RLIMIT_NICE.
 */
export const raise = ({ platform, setPriority }: System): string => {
  if (platform !== "linux") return `as the process, on ${platform}`
  try {
    setPriority(0, niceness)
    return `niceness ${niceness}`
  } catch (error) {
    return `as the process: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** The part of the system that `raiseGroup` needs: its files as text, and the id of this process. */
interface GroupSystem {
  readonly platform: NodeJS.Platform
  readonly pid: number
  readonly read: (path: string) => string
  readonly write: (path: string, text: string) => void
}

/**
 * Gives the scheduler's group of this process the same niceness, where the system lets it. With autogroups, the default
 * of Debian and Ubuntu, niceness only counts among the processes of one session, and each session gets the same share
 * of the processors (sched(7), "The autogroup feature"). Returns the outcome in words, for the log; never throws.
 *
 * Only the leader of a session does it: a group that it shares with a shell or with other programs stays as it is.
 */
export const raiseGroup = ({ pid, platform, read, write }: GroupSystem): string => {
  if (platform !== "linux") return "there are no groups"
  try {
    // The name of the program, in parentheses, may contain anything; the session is the fourth field after it.
    const session = read("/proc/self/stat").split(") ").at(-1)?.split(" ")[3]
    if (session !== String(pid)) return "the session of another process"
    write("/proc/self/autogroup", String(niceness))
    return `niceness ${niceness}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** After the threads that answer peers and clients, but before processes that only use spare time. */
const behindOthers = 5

/** Lowers the priority of the calling thread where each thread has one of its own; never throws. */
export const lower = ({ platform, setPriority }: System): void => {
  if (platform !== "linux") return
  try {
    setPriority(0, behindOthers)
  } catch {
    // It then runs with the priority of the process.
  }
}
