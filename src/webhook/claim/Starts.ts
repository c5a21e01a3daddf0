import { Effect } from "effect"
import * as Company from "../../domain/fair/Company.ts"
import * as EventLoop from "../../domain/fair/EventLoop.ts"
import * as LoopTurns from "../../domain/fair/LoopTurns.ts"
import * as Policies from "../../domain/fair/Policies.ts"

interface Clocked {
  readonly now: () => number
  /** Runs the function once, after this many milliseconds. */
  readonly later: (run: () => void, ms: number) => void
  readonly thread: EventLoop.EventLoop
}

/** How many attempts a tenant begins at most in a window of the event loop while it has to rest. */
const mostInWindow = 4

/** A tenant is alone when no other has begun an attempt for this time. */
const companyMs = 10_000

/**
 * Decides when attempts begin: at most `places` at once, and a few in each turn of the event loop, first those of the
 * tenant with the fewest under way. So a thousand claimed deliveries of one tenant hold up neither the process nor a
 * delivery of another tenant. The line is not bounded here, because the number of claimed deliveries is.
 *
 * While the thread is busy and tenants share it, each begins a few attempts in a window and then rests, so that one
 * tenant's thousands of deliveries leave time for other work and still continue.
 */
export const make = (
  places: number,
  { later = setTimeout, now = () => performance.now(), thread = EventLoop.make() }: Partial<Clocked> = {}
) => {
  const turns = LoopTurns.make({ ...Policies.attemptTurns, places })
  const company = Company.make(companyMs)
  const resting = new Set<string>()
  /** The attempts of each tenant in the window that began at `windowAt`. */
  const inWindow = new Map<string, number>()
  let windowAt = -Infinity

  const wake = (): void => {
    const rested = [...resting]
    resting.clear()
    turns.wake(rested)
  }
  const rest = (tenant: string): void => {
    if (resting.size === 0) later(wake, EventLoop.windowMs)
    resting.add(tenant)
    turns.rest(tenant)
  }
  /** Counts an attempt of the tenant, whose next one may have to wait for the end of the window. */
  const count = (tenant: string, at: number): void => {
    company.came(tenant, at)
    if (at - windowAt >= EventLoop.windowMs) {
      windowAt = at
      inWindow.clear()
    }
    const attempts = (inWindow.get(tenant) ?? 0) + 1
    inWindow.set(tenant, attempts)
    if (attempts >= mostInWindow && company.isShared(at) && thread.isBusy(at)) rest(tenant)
  }

  return {
    /** Runs the attempt when its turn has come. An attempt that is interrupted while it waits is not begun. */
    within:
      (tenant: string) =>
      (attempt: Effect.Effect<void>): Effect.Effect<void> =>
        Effect.suspend(() => {
          let turn: LoopTurns.Turn | null = null
          const started = Effect.callback<void>((resume) => {
            turn = turns.take(tenant, () => {
              count(tenant, now())
              resume(Effect.void)
            })
          })
          return Effect.ensuring(
            Effect.andThen(started, attempt),
            Effect.sync(() => turn?.leave())
          )
        }),
    underWay: turns.running
  }
}
