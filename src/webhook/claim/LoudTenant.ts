import * as EventLoop from "../../runtime/process/EventLoop.ts"

/** What a tenant begins in a window of the event loop at most while that is busy. */
const mostInWindow = 4

/** A tenant is alone when no other has begun anything for so long. */
const companyMs = 10_000

/**
 * Whose attempts have to rest. While the thread has time, and while a tenant is alone, nobody's do. While it is busy and
 * tenants share it, each begins a few attempts in a window, so that one tenant's thousands of deliveries leave time for
 * what others wait for, and go on all the same.
 */
export const make = (thread: EventLoop.EventLoop) => {
  const begun = new Map<string, number>()
  let windowAt = -Infinity
  let last = { tenant: "", at: -Infinity }
  /** The newest of another tenant than `last`. */
  let other = last

  return {
    /** An attempt of the tenant begins. True: its next one has to wait for the end of the window. */
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
