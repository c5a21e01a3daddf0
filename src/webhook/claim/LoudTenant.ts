import * as EventLoop from "../../runtime/process/EventLoop.ts"

/** How many attempts a tenant begins at most in a window of the event loop while that is busy. */
const mostInWindow = 4

/** A tenant is alone when no other has begun an attempt for this time. */
const companyMs = 10_000

/**
 * Decides which tenants' attempts have to rest. None rest while the thread has time, or while a tenant is alone. While
 * the thread is busy and tenants share it, each begins a few attempts in a window, so that one tenant's thousands of
 * deliveries leave time for other work and still continue.
 */
export const make = (thread: EventLoop.EventLoop) => {
  const begun = new Map<string, number>()
  let windowAt = -Infinity
  let last = { tenant: "", at: -Infinity }
  /** The newest attempt of another tenant than that of `last`. */
  let other = last

  return {
    /** Counts an attempt of the tenant. True: its next one has to wait for the end of the window. */
    begins: (tenant: string, now: number): boolean => {
      if (tenant !== last.tenant) other = last
      last = { tenant, at: now }
      if (now - windowAt >= EventLoop.windowMs) {
        windowAt = now
        begun.clear()
      }
      const count = (begun.get(tenant) ?? 0) + 1
      begun.set(tenant, count)
      return count >= mostInWindow && now - other.at < companyMs && thread.isBusy(now)
    }
  }
}
