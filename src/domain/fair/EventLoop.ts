/** Measures whether this thread has much to do, for code that shares the thread among tenants. */
export interface EventLoop {
  /** True when the thread rested for less than half of the last window. `now` is in monotonic milliseconds. */
  readonly isBusy: (now: number) => boolean
}

export const windowMs = 20
const busyShare = 0.5

/** `busy`: the share of the time since its last call in which the thread was busy. */
export const make = (busy: () => number = utilization()): EventLoop => {
  let askedAt = -Infinity
  let isBusy = false
  return {
    isBusy: (now) => {
      if (now - askedAt < windowMs) return isBusy
      askedAt = now
      isBusy = busy() > busyShare
      return isBusy
    }
  }
}

const utilization = (): (() => number) => {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}
