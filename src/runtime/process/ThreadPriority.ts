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
