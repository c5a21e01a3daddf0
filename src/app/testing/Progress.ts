import { setTimeout as delay } from "node:timers/promises"

/** A condition that a test awaits while the clock moves. */
export interface Wait {
  readonly isDone: () => boolean
  /** The reason why it can no longer happen; null: it still may. */
  readonly failure?: () => Error | null
  /** Epoch milliseconds of the clock that is moved. */
  readonly until: number
  /** The error when `until` is reached; null: reaching it is the success. */
  readonly late: (() => Error) | null
}

interface Waiter extends Wait {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

interface Options {
  readonly now: () => number
  /** The next moment at which something is due; null: never. */
  readonly nextDue: () => number | null
  readonly moveTo: (at: number) => void
  readonly quiet: () => Promise<void>
  /** Whether the clock may go no faster than real time. */
  readonly isPaced: () => boolean
  /** Takes the first unreported fault of the test, such as a handler that threw. */
  readonly takeFault: () => Error | null
}

const nothingMore = () => new Error("nothing more will happen: nobody waits for the clock any more")

/**
 * Moves the clock while a test waits, and only then: whenever all is quiet, to the next moment at which something is
 * due. Everything due at one moment is finished before the next one. Several waits may run at once.
 */
export const make = ({ isPaced, moveTo, nextDue, now, quiet, takeFault }: Options) => {
  const waiters = new Set<Waiter>()
  let isRunning = false
  /** The same moment on both clocks, while the clock is paced. */
  let pace: { readonly real: number; readonly virtual: number } | null = null

  const settle = (waiter: Waiter, error: unknown = null): void => {
    waiters.delete(waiter)
    if (error === null) waiter.resolve()
    else waiter.reject(error)
  }
  const failAll = (error: unknown): void => {
    for (const waiter of waiters) settle(waiter, error)
  }
  /** Settles the waits that are over. True: there were some. */
  const look = (): boolean => {
    let isSettled = false
    for (const waiter of waiters) {
      const failure = waiter.isDone() ? null : (waiter.failure?.() ?? null)
      if (waiter.isDone()) settle(waiter)
      else if (failure !== null) settle(waiter, failure)
      else if (now() >= waiter.until) settle(waiter, waiter.late?.() ?? null)
      else continue
      isSettled = true
    }
    return isSettled
  }

  /** False: by the pace it is too early for that moment. */
  const keepPace = async (at: number): Promise<boolean> => {
    if (!isPaced()) {
      pace = null
      return true
    }
    pace ??= { real: performance.now(), virtual: now() }
    const aheadMs = at - pace.virtual - (performance.now() - pace.real)
    if (aheadMs < 1) return true
    await delay(Math.min(aheadMs, 20))
    return false
  }

  const step = async (): Promise<void> => {
    await quiet()
    const fault = takeFault()
    if (fault !== null) return failAll(fault)
    if (look()) return
    const at = Math.min(nextDue() ?? Infinity, ...[...waiters].map(({ until }) => until))
    if (at === Infinity) return failAll(nothingMore())
    if (await keepPace(at)) moveTo(at)
  }

  /** No await may come between the last look at the waiters and the end of `isRunning`. */
  const run = async (): Promise<void> => {
    isRunning = true
    while (waiters.size > 0) await step().catch(failAll)
    isRunning = false
  }

  return {
    wait: (wait: Wait): Promise<void> =>
      new Promise((resolve, reject) => {
        waiters.add({ ...wait, resolve, reject })
        if (!isRunning) void run()
      }),
    /** Fails all waits with this error. */
    fail: failAll
  }
}
