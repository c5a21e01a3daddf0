import { readFileSync } from "node:fs"
import { availableParallelism, loadavg } from "node:os"
import { setTimeout as delay } from "node:timers/promises"

/**
 * A bound for waiting, in time that the machine has for us. While more processes want the processors than there are, a
 * second counts for less: at a load of 20 on two processors for a tenth. So a wait ends when the service had its time
 * and used it for something else, however busy the machine is.
 */
export interface Patience {
  readonly isOver: () => boolean
  /** The wait begins again, because something has happened. */
  readonly renew: () => void
}

/** The number of processes that run or want to: as an average over a minute, or now, whichever is more. */
const wanting = (): number => {
  const [average = 0] = loadavg()
  try {
    const [, , , now = "0"] = readFileSync("/proc/loadavg", "utf8").split(" ")
    return Math.max(average, Number.parseInt(now, 10))
  } catch {
    return average
  }
}

/** The share of a processor that a process gets now, at most 1. */
export const share = (): number => shareOf(wanting())

const shareOf = (processes: number): number => Math.min(1, availableParallelism() / Math.max(1, processes))

export const make = (
  withinMs: number,
  machine: { readonly now: () => number; readonly wanting: () => number } = { now: () => performance.now(), wanting }
): Patience => {
  let leftMs = withinMs
  let lookedAt = machine.now()
  return {
    isOver: () => {
      const now = machine.now()
      leftMs -= (now - lookedAt) * shareOf(machine.wanting())
      lookedAt = now
      return leftMs <= 0
    },
    renew: () => {
      leftMs = withinMs
      lookedAt = machine.now()
    }
  }
}

/** Waits until `what` is there, or gives `late` when patience is over. */
export const race = async <A, Late>(what: Promise<A>, withinMs: number, late: Late): Promise<A | Late> => {
  const ended = new AbortController()
  const over = async (): Promise<Late> => {
    for (const patience = make(withinMs); !patience.isOver() && !ended.signal.aborted;) await delay(50)
    return late
  }
  try {
    return await Promise.race([what, over()])
  } finally {
    ended.abort()
  }
}
