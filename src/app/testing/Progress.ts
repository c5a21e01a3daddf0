import { setTimeout as delay } from "node:timers/promises"

/** What somebody waits for while the clock moves. */
export interface Wait {
  readonly isDone: () => boolean
  /** It will not happen any more, and why; null: it may. */
  readonly failure?: () => Error | null
  /** Epoch milliseconds of the clock that is moved. */
  readonly until: number
  /** At `until`; null: that is what was waited for. */
  readonly late: (() => Error) | null
}

interface Waiter extends Wait {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export interface Options {
  readonly now: () => number
  /** When something is due; null: never. */
  readonly nextDue: () => number | null
  readonly moveTo: (at: number) => void
  readonly quiet: () => Promise<void>
  /** Whether the clock may go no faster than real time. */
  readonly isPaced: () => boolean
  /** Faults of the test that nobody has heard of yet: a handler that threw. Takes the first. */
  readonly takeFault: () => Error | null
}

const nothingMore = () => new Error("nothing more will happen: nobody waits for the clock any more")

/**
 * Moves the clock for those who wait, and only then: whenever all is quiet, to the next moment at which something is due.
 * What is due at one moment is through before the next one. Several may wait at once.
 */
export const make = ({ isPaced, moveTo, nextDue, now, quiet, takeFault }: Options) => {
  const waiters = new Set<Waiter>()
  let isRunning = false
  /** A moment of both clocks, while the clock is paced. */
  let pace: { readonly real: number; readonly virtual: number } | null = null

  const settle = (waiter: Waiter, error: unknown = null): void => {
    waiters.delete(waiter)
    if (error === null) waiter.resolve()
    else waiter.reject(error)
  }
  const failAll = (error: unknown): void => {
    for (const waiter of waiters) settle(waiter, error)
  }
  /** True: somebody has what they waited for. */
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

  /** False: it is too early for that moment, by the pace. */
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

  /** Nothing may stand between the last look at who waits and the word that it does not run any more. */
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
    /** Whoever waits is told this. */
    fail: failAll
  }
}

export type Progress = ReturnType<typeof make>
